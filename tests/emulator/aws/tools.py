"""What the exercise needs of this machine: there, or said to be missing."""

from pathlib import Path

import pytest

from tests.emulator.aws.environment import MissingToolError
from tests.emulator.aws.localstack import python
from tests.emulator.aws.terraform import Mirror, find_mirror


def found_tools(report: Path, endpoint: str | None) -> Mirror:
    """Skips the tests, and leaves the reason in `report`, which the gate prints last. With an
    endpoint the emulator runs already, and no Python is needed for it."""
    report.parent.mkdir(exist_ok=True)
    try:
        mirror = find_mirror()
        if endpoint is None:
            python()
    except MissingToolError as missing:
        report.write_text(f"emulator: NOT RUN ({missing})\n")
        pytest.skip(str(missing))
    return mirror
