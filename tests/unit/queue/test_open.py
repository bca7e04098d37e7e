from pathlib import Path

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.queue.local import LocalQueue
from gristmill.queue.open import open_queue


def test_local_opens_a_file(tmp_path: Path) -> None:
    queue = open_queue(
        f"local:{tmp_path}/queue.sqlite",
        now=lambda: 0.0,
        token=lambda: "t",
        lease_seconds=5,
        attempts=3,
    )
    assert isinstance(queue, LocalQueue)
    assert queue.lease_seconds == 5
    assert (tmp_path / "queue.sqlite").exists()


@pytest.mark.parametrize("spec", ["", "local", "local:", "sqs:url", "/path/alone"])
def test_another_spec_is_refused_with_what_is_allowed(spec: str) -> None:
    with pytest.raises(ConfigError, match="local:<path of a file>"):
        open_queue(spec, now=lambda: 0.0, token=lambda: "t", attempts=3)
