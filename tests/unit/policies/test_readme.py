"""What policies/README.md shows works."""

from pathlib import Path

from policies.check import load_checks
from policies.reading.stack import App
from policies.waivers import Waivers
from tests.docs.console import blocks
from tests.unit.policies.case import one

README = Path("policies/README.md")


def test_the_shown_check_loads_and_judges(tmp_path: Path) -> None:
    ((_, shown),) = blocks(README, "python")
    (tmp_path / "shown.py").write_text(shown)
    (loaded,) = load_checks(tmp_path)
    answers = [
        loaded.verdict(next(App.of(one("aws_sqs_queue", **conf)).resources())).answer
        for conf in (
            {"sqs_managed_sse_enabled": True},
            {"sqs_managed_sse_enabled": False},
            {"sqs_managed_sse_enabled": "${var.encrypted}"},
        )
    ]
    assert answers == ["pass", "fail", "cannot tell"]


def test_the_shown_waiver_loads(tmp_path: Path) -> None:
    ((_, shown),) = blocks(README, "yaml")
    (tmp_path / "waivers.yaml").write_text(f"version: 1\nwaivers:\n{shown}")
    assert len(Waivers.load(tmp_path / "waivers.yaml").waivers) == 1
