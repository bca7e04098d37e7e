import io
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from gristmill.cli.view import PLAIN_SECONDS, LiveView, PlainView
from gristmill.client.progress import Progress
from gristmill.contract.manifest import Counts
from gristmill.contract.record import RejectionClass


def progress(**changed: Any) -> Progress:
    given: dict[str, Any] = {
        "shards": 2, "began": 0.0, "usd_per_hour": 36.0, "workers": 1, "before": Counts(),
    }  # fmt: skip
    return Progress(**given | changed)


def halfway() -> Progress:
    going = progress()
    going.take({"event": "loaded"}, 0.0)
    counts = Counts(records=1500, ok=1499, rejected={RejectionClass.TOO_LONG: 1}).model_dump(
        mode="json"
    )
    going.take({"event": "part_published", "shard": 0, "counts": counts, "shard_share": 1.0}, 5.0)
    going.take({"event": "shard_published", "shard": 0}, 5.0)
    going.take({"event": "worker_died", "message": "killed"}, 5.0)
    return going


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_a_line_says_how_far_how_fast_and_at_what_cost(capsys: pytest.CaptureFixture[str]) -> None:
    PlainView().draw(halfway(), 10.0)
    assert lines(capsys) == [
        "1/2 shards · 1,500 records · 150/s · 10.0 s left · $0.10 · 1 rejected · 1 workers replaced"
    ]


def test_before_the_first_record_it_says_that_the_engine_loads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    PlainView().draw(progress(), 7.0)
    assert lines(capsys) == ["loading the engine (7.0 s)"]


def test_plain_lines_come_every_few_seconds_and_once_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view, going = PlainView(), halfway()
    for at in (10.0, 10.1, 10.0 + PLAIN_SECONDS / 2, 10.0 + PLAIN_SECONDS):
        view.draw(going, at)
    assert len(lines(capsys)) == 2
    going.take({"event": "shard_published", "shard": 1}, 15.1)
    for at in (15.1, 15.2):
        view.draw(going, at)
    (last,) = lines(capsys)
    assert last.startswith("2/2 shards")


def test_a_terminal_shows_a_bar_and_the_same_words() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=160)
    with Live(console=screen, auto_refresh=False) as live:
        LiveView(live).draw(halfway(), 10.0)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "50%" in shown
    assert "1/2 shards · 1,500 records" in shown
