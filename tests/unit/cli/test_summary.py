from typing import Any

import pytest

from gristmill.cli.summary import print_summary
from gristmill.client.report import Report


def report(**changed: Any) -> Report:
    given: dict[str, Any] = {
        "run": "r", "state": "finished", "directory": "/runs/my run", "output": "/out",
        "exit_code": 0, "message": None, "shards": 2, "shards_done": 2, "records": 1000, "ok": 990,
        "rejected": 10, "rejected_by_class": {"too_long": 10}, "tokens": 50_000,
        "padding_ratio": 0.0142, "wall_seconds": 65.0, "worker_seconds": 60.0,
        "engine_seconds": 50.0, "load_seconds": 5.0, "records_per_second": 15.4,
        "tokens_per_second": 769.2, "usd": 0.05, "usd_per_1000": 0.05, "attempts": 2,
        "lost_records": 7, "kept_records": 3, "useful_share": 0.833, "given_up": {},
        "skipped": {}, "results": [], "dead_letters": [],
    }  # fmt: skip
    return Report(**given | changed)


def shown(capsys: pytest.CaptureFixture[str], **changed: Any) -> str:
    print_summary(report(**changed))
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_it_says_what_came_out_how_fast_and_at_what_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = shown(capsys)
    for words in (
        "r (finished)",
        "2 of 2",
        "990 ok, 10 rejected (10 too_long)",
        "15.4 items/s, 769 tokens/s",
        "1 m 05 s wall, 50.0 s engine, 5.0 s loading, 2 attempts",
        "1.4% of the computed tokens",
        "7 records inferred in vain",
        "83.3% of the workers' time",
        "$0.05 per 1,000 items, $0.05 in all",
        "gristmill results '/runs/my run' --head 3",
        "gristmill results '/runs/my run' --rejected --head 3",
        "gristmill verify '/runs/my run' --deep",
    ):
        assert words in said, words


def test_what_did_not_happen_is_not_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(
        capsys, rejected=0, rejected_by_class={}, padding_ratio=0.0, lost_records=0,
        state="unfinished", wall_seconds=0.0, usd=None, usd_per_1000=None,
    )  # fmt: skip
    for words in ("padding", "waste", "look at rejected", "verify", " wall"):
        assert words not in said, words
    assert "unknown: set capacity.usd_per_hour" in said


def test_shards_that_were_given_up_are_named_with_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = shown(capsys, given_up={"3": 10, "17": 10})
    assert "shards 3, 17; `gristmill resume` tries again" in said


def test_a_price_without_records_is_still_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert "$0.05" in shown(capsys, usd_per_1000=None)
