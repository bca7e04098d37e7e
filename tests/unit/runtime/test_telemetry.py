import io
import json
import subprocess
import sys

import pytest

from gristmill.contract import layout
from gristmill.contract.canonical import decode
from gristmill.contract.manifest import AttemptReport, Counts, PartManifest
from gristmill.contract.shard import Cursor
from gristmill.runtime.telemetry import Tally, peak_rss, publish_report, stderr_events
from tests.doubles.instant_clock import InstantClock
from tests.doubles.memory_store import MemoryStore
from tests.doubles.mill import Mill, blueprint, json_lines


def part(records: int) -> PartManifest:
    return PartManifest(
        spec="s",
        shard=0,
        part=0,
        attempt="a",
        first=0,
        start=Cursor(0, 0),
        end=Cursor(0, 9),
        last=False,
        counts=Counts(records=records, ok=records),
        files=(),
        engine_seconds=2.0,
    )


def test_an_event_is_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    emit = stderr_events("attempt-1", lambda: 12.34567)
    emit("part_published", shard=3, text="a\nb")
    emit("ended")
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"event": "part_published", "at": 12.346, "attempt": "attempt-1", "shard": 3,
         "text": "a\nb"},
        {"event": "ended", "at": 12.346, "attempt": "attempt-1"},
    ]  # fmt: skip


def test_a_listener_that_is_gone_stops_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Broken())
    stderr_events("a", lambda: 0.0)("part_published", shard=1)


def test_a_tally_counts_what_was_won_and_what_was_lost_apart() -> None:
    tally = Tally("a", InstantClock(), 0.5)
    tally.add(part(10), won=True, records=10)
    tally.add(part(7), won=False, records=7)
    report = tally.report(0, "fine")
    assert report.counts.records == 10
    assert report.lost_records == 7
    assert report.engine_seconds == 2.0
    assert report.machine_share == 0.5
    assert (report.exit_code, report.message) == (0, "fine")
    assert report.peak_rss > 10**6


def test_a_report_is_written_over() -> None:
    run, tally = MemoryStore(), Tally("a", InstantClock(), 1.0)
    publish_report(run, tally.report())
    publish_report(run, tally.report(75))
    (info,) = run.list(layout.ATTEMPTS)
    assert decode(AttemptReport, run.get(info.key), info.key).exit_code == 75


@pytest.mark.anyio
async def test_no_event_and_no_report_holds_a_word_of_any_record() -> None:
    secrets = ["sesame-okay", "sesame-poison", "sesame-" + "long " * 50]
    bodies = {"a.jsonl": json_lines(secrets) + b'{"text": "sesame-cut\n' + b'{"sesame-field": 1}\n'}
    faults = {"reject_containing": "sesame-poison"}
    mill = Mill.planned(bodies, InstantClock(), blueprint({"max_tokens": 20, "faults": faults}))
    place = await mill.work()
    assert place.tally.counts.rejected_total == 4
    said = json.dumps(mill.events) + place.tally.report().model_dump_json()
    assert "part_published" in said
    assert "sesame" not in said


def test_peak_memory_is_of_this_process_and_not_of_the_one_that_started_it() -> None:
    ballast = b"x" * (300 * 2**20)
    child = subprocess.run(
        [
            sys.executable,
            "-c",
            "from gristmill.runtime.telemetry import peak_rss; print(peak_rss())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(child.stdout) < len(ballast) < peak_rss()
