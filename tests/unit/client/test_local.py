"""A run over files of one folder, with real worker processes."""

from pathlib import Path

import pytest

from gristmill.client.finish import verify
from gristmill.client.local import queue_place
from gristmill.client.plan import Run
from gristmill.client.progress import Progress
from gristmill.client.results import rejected_lines, result_lines
from gristmill.client.state import read_state
from gristmill.contract import layout
from gristmill.contract.manifest import Control
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy
from gristmill.runtime.control import want
from tests.doubles.folder_run import FolderRun
from tests.doubles.silent_view import SilentView

TEXTS = [f"text {index}" for index in range(200)]


@pytest.fixture
def place(tmp_path: Path) -> FolderRun:
    made = FolderRun(tmp_path)
    made.put("a.jsonl", TEXTS[:150])
    made.put("b.jsonl", TEXTS[150:])
    return made


def test_a_run_is_worked_on_to_its_end_and_then_only_reported(place: FolderRun) -> None:
    small = ("shard.bytes=1KB", "part.records=20", "capacity.usd_per_hour=3.6")
    report = place.go(*small, workers=2)
    assert (report.exit_code, report.state) == (0, "finished")
    assert (report.records, report.ok, report.rejected) == (200, 200, 0)
    assert report.shards_done == report.shards > 2
    assert report.attempts == 2
    assert report.usd is not None
    assert report.usd > 0
    assert report.records_per_second > 0
    assert place.texts() == TEXTS
    assert len(report.results) == report.shards

    again = place.go(*small, workers=2)
    assert again.records == 200
    assert again.attempts == 2
    assert again.wall_seconds == 0

    run = place.open(*small)
    verdict = verify(run, deep=True)
    assert verdict.gaps == []
    assert verdict.counts.records == 200
    assert len(list(result_lines(run))) == 200


def test_too_many_rejected_end_it_with_everything_kept_and_more_may_be_allowed(
    tmp_path: Path,
) -> None:
    place = FolderRun(tmp_path)
    place.put("a.jsonl", b'{"text": "good"}\n{"other": "a\xe2\x80\xa8b"}\n' * 10)
    run = place.open("errors.max_failed_fraction=0.1")
    report = place.work(run)
    assert report.exit_code == ExitCode.BAD_INPUT
    assert report.message is not None
    assert "10 of 20 records were rejected (50.0%)" in report.message
    assert (report.state, report.ok, report.rejected) == ("unfinished", 10, 10)
    assert report.rejected_by_class == {"missing_field": 10}
    # A line separator that JSON allows in a string does not end a line.
    assert len(list(rejected_lines(run))) == 10

    allowed = Policy(errors=run.spec.blueprint.errors.model_copy(update={"max_failed_fraction": 1}))
    again = place.work(run, policy=allowed)
    assert (again.exit_code, again.state) == (0, "finished")
    assert read_state(run.store).manifest is not None


def test_rejected_records_of_an_unfinished_shard_can_be_looked_at(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    place.put("a.jsonl", b'{"other": 1}\n' * 50 + b'{"text": "good"}\n' * 50)
    run = place.open(
        "errors.max_failed_records=5",
        "part.records=10",
        "task.engine.records_per_second=100",
    )
    report = place.work(run)
    assert report.exit_code == ExitCode.BAD_INPUT
    assert report.shards_done == 0
    shown = list(rejected_lines(run))
    assert len(shown) == report.rejected >= 10
    assert list(result_lines(run)) == []


def test_a_deadline_ends_it_with_everything_kept(place: FolderRun) -> None:
    run = place.open("task.engine.records_per_second=20", "part.records=5", "deadline=0.5s")
    report = place.work(run)
    assert report.exit_code == ExitCode.RECLAIMED
    assert report.message == "deadline reached; everything finished is kept"
    assert report.state == "unfinished"


def test_spent_money_ends_it_with_everything_kept(place: FolderRun) -> None:
    run = place.open(
        "task.engine.records_per_second=20",
        "part.records=5",
        "capacity.usd_per_hour=3600",
        "budget.max_usd=0.5",
    )
    report = place.work(run)
    assert report.exit_code == ExitCode.RECLAIMED
    assert report.message == "budget.max_usd is spent; everything finished is kept"


def test_a_cancelled_run_stops_keeps_what_is_finished_and_goes_on_when_resumed(
    place: FolderRun,
) -> None:
    run = place.open("task.engine.records_per_second=20", "part.records=5", "shard.bytes=1KB")
    cancelled_once: list[bool] = []

    class CancelAtFirstPart(SilentView):
        def draw(self, progress: Progress, at: float) -> None:
            if progress.here.records and not cancelled_once:
                cancelled_once.append(True)
                want(run.store, Control(wanted="cancel", at=at))

    report = place.work(run, view=CancelAtFirstPart())
    assert report.exit_code == ExitCode.RECLAIMED
    assert report.message == "cancelled; everything finished is kept, the rest is not run"
    assert report.state == "cancelled"
    assert 0 < report.records < 200
    assert report.rejected == 0
    assert read_state(run.store).failures == ()
    again = place.work(run)
    assert again.state == "finished"
    assert place.texts() == TEXTS


def test_shards_that_kill_every_worker_are_given_up_and_named_and_may_be_tried_again(
    place: FolderRun,
) -> None:
    run = place.open(
        "task.engine.faults={die_after_batches: 3}",
        "part.records=10",
        "shard.bytes=2KB",
        "capacity.attempts=1",
    )
    report = place.work(run)
    assert report.exit_code == ExitCode.ENGINE_DEAD
    assert report.message is not None
    assert "shards were given up, shard" in report.message
    assert report.given_up
    assert set(report.given_up.values()) == {1}
    assert report.shards_done + len(report.given_up) == report.shards
    for _ in range(20):
        if report.state == "finished":
            break
        report = place.work(run)
    assert (report.state, report.given_up) == ("finished", {})
    assert place.texts() == TEXTS
    assert verify(run, deep=True).gaps == []


def stopped_halfway(tmp_path: Path) -> tuple[FolderRun, Run, Policy]:
    """A run that one bad record stopped in its only shard, and a policy that allows it."""
    place = FolderRun(tmp_path)
    whole = place.put("a.jsonl", TEXTS).read_bytes()
    half = whole.index(b'{"text": "text 100"}')
    place.put("a.jsonl", whole[:half] + b"{bad\n" + whole[half:])
    run = place.open("errors={max_failed_records: 0}", "part.records=20")
    report = place.work(run)
    assert report.exit_code == ExitCode.BAD_INPUT
    assert (report.shards_done, report.rejected) == (0, 1)
    return place, run, Policy()


def test_a_queue_lost_between_two_goes_is_made_again(tmp_path: Path) -> None:
    place, run, allowing = stopped_halfway(tmp_path)
    (tmp_path / "runs/r" / layout.QUEUE).unlink()
    assert place.work(run, policy=allowing).state == "finished"
    assert place.texts() == TEXTS


def test_part_data_damaged_before_the_end_is_refused_and_can_be_made_again(
    tmp_path: Path,
) -> None:
    place, run, allowing = stopped_halfway(tmp_path)
    keys = [info.key for info in run.store.list(layout.SHARDS)]
    key = next(key for key in keys if key.endswith("results.jsonl"))
    run.store.put(key, b"damaged")
    report = place.work(run, policy=allowing)
    assert report.exit_code == ExitCode.STORAGE
    assert report.message is not None
    assert f"{key}: its bytes are not those that were written" in report.message
    assert "delete its part manifest and resume" in report.message
    number = int(key.rpartition("/")[2][:6])
    (tmp_path / "runs/r" / layout.part_manifest(0, number)).unlink()
    assert place.work(run, policy=allowing).state == "finished"
    assert place.texts() == TEXTS


def test_an_object_of_blank_lines_alone_is_no_record_at_all(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    place.put("a.jsonl", b"\n\n\n")
    report = place.go()
    assert report.exit_code == ExitCode.BAD_INPUT
    assert report.message is not None
    assert report.message.endswith("in/: its objects hold no record")


def test_the_queue_of_a_bucket_lies_on_this_machine_and_of_a_folder_beside_it() -> None:
    assert queue_place("/runs/r") == f"local:/runs/r/{layout.QUEUE}"
    one, two = queue_place("s3://b/runs/r"), queue_place("s3://b/runs/q")
    assert one == queue_place("s3://b/runs/r") != two
    assert one.startswith("local:/")


@pytest.mark.parametrize(
    ("uri", "variable"),
    [
        ("s3://b/runs/r", "AWS_ENDPOINT_URL"),
        ("s3://b/runs/r", "AWS_ENDPOINT_URL_S3"),
        ("az://b/runs/r", "AZURE_STORAGE_ACCOUNT_NAME"),
        ("az://b/runs/r", "AZURE_ENDPOINT"),
    ],
)
def test_buckets_of_one_name_in_two_storages_have_two_queues(
    uri: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://one")
    one = queue_place(uri)
    monkeypatch.setenv(variable, "http://other")
    assert queue_place(uri) != one
