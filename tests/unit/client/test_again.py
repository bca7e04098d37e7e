"""Replays and retries of a finished run."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gristmill.client import again
from gristmill.client.finish import verify
from gristmill.client.plan import Run
from gristmill.client.results import rejected_lines
from gristmill.client.state import read_state
from gristmill.contract import layout
from gristmill.contract.clock import Clock
from gristmill.contract.errors import StorageError, UsageError
from gristmill.contract.manifest import Determinism
from gristmill.contract.record import Completed, Outcome, RejectionClass
from gristmill.contract.run import RunSpec
from gristmill.engines.protocol import Engine, Prepared
from gristmill.runtime.again import Load
from gristmill.runtime.again import load as plain_load
from gristmill.runtime.host import WallClock
from gristmill.store.local import LocalDisk
from tests.doubles.engines import Watched
from tests.doubles.folder_run import FolderRun

TEXTS = [f"text {index}" for index in range(120)]
POISON = [7, 8, 64, 119]
ENGINE = RejectionClass.ENGINE


def silent(done: int, total: int) -> None:
    pass


@pytest.fixture
def place(tmp_path: Path) -> FolderRun:
    made = FolderRun(tmp_path)
    texts = [f"poison {i}" if i in POISON else text for i, text in enumerate(TEXTS)]
    made.put("a.jsonl", texts)
    return made


def finished(place: FolderRun, *overrides: str) -> Run:
    run = place.open(
        "part.records=10",
        "shard.bytes=1KB",
        "errors.max_failed_fraction=0.5",
        "task.engine.faults={reject_containing: poison}",
        *overrides,
    )
    assert place.work(run).state == "finished"
    return run


class Healed(Watched):
    """Refuses nothing any more."""

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        await super().before(len(members))
        self.records += len(members)
        return [Completed((prepared.content[member][0],)) for member in members]


class Other(Healed):
    """Answers otherwise."""

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        return [Completed(("other",)) for _ in await super().infer(prepared, members)]


def with_engine(kind: type[Watched], made: list[Watched]) -> Load:
    def load(spec: RunSpec, clock: Clock) -> Engine:
        made.append(kind(plain_load(spec, clock)))
        return made[-1]

    return load


def test_a_replay_states_the_level_it_saw_in_the_manifest(place: FolderRun) -> None:
    run = finished(place)
    seen = again.replay(run, 100, "again", WallClock(), silent)
    assert seen.parts == seen.same_bytes > 10
    assert seen.determinism is Determinism.BYTES
    manifest = read_state(run.store).manifest
    assert manifest is not None
    assert manifest.determinism is Determinism.BYTES
    assert manifest.counts.records == len(TEXTS)


def test_a_replay_that_gives_other_bytes_says_so(place: FolderRun) -> None:
    run = finished(place)
    seen = again.replay(run, 3, "again", WallClock(), silent, with_engine(Other, []))
    assert (seen.parts, seen.same_bytes) == (3, 0)
    assert seen.determinism is Determinism.CONFIG


def test_a_replay_changes_nothing_but_the_manifest(place: FolderRun) -> None:
    run = finished(place)
    before = {info.key: run.store.get(info.key) for info in run.store.list()}
    again.replay(run, 5, "again", WallClock(), silent)
    after = {info.key: run.store.get(info.key) for info in run.store.list()}
    assert {key for key in after if after[key] != before.get(key)} == {layout.MANIFEST}


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_retry_infers_only_the_rejected_records_and_merges_them_in_place(
    place: FolderRun, format: str
) -> None:
    run = finished(place, f"output.format={{kind: {format}}}")
    engines: list[Watched] = []
    done = again.retry(run, ENGINE, "again", WallClock(), silent, with_engine(Healed, engines))
    assert (done.generation, done.records, done.mended) == (1, 4, 4)
    assert engines[0].records == 4
    state = read_state(run.store)
    assert state.manifest is not None
    assert (state.manifest.generation, state.counts.ok) == (1, len(TEXTS))
    assert list(rejected_lines(run)) == []
    assert verify(run, deep=True).gaps == []
    kept = [info.key for info in run.store.list(layout.parts_prefix(0))]
    assert layout.part_manifest(0, 0) in kept
    if format == "jsonl":
        expected = [f"poison {i}" if i in POISON else text for i, text in enumerate(TEXTS)]
        assert place.texts() == expected


def test_what_is_refused_again_stays_rejected_and_may_be_retried_once_more(
    place: FolderRun,
) -> None:
    run = finished(place)
    done = again.retry(run, ENGINE, "again", WallClock(), silent)
    assert (done.generation, done.records, done.mended) == (1, 4, 0)
    assert len(list(rejected_lines(run))) == 4
    assert verify(run, deep=True).gaps == []
    done = again.retry(run, ENGINE, "more", WallClock(), silent, with_engine(Healed, []))
    assert (done.generation, done.records, done.mended) == (2, 4, 4)
    assert verify(run, deep=True).gaps == []
    nothing = again.retry(run, ENGINE, "last", WallClock(), silent)
    assert (nothing.generation, nothing.records) == (2, 0)


def test_a_retry_that_died_is_done_to_its_end_by_the_next(
    place: FolderRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished(place)
    put_file, left = LocalDisk.put_file, [1]

    def full(self: LocalDisk, key: str, path: Path) -> None:
        if not left[0]:
            raise StorageError("disk full")
        left[0] -= 1
        put_file(self, key, path)

    monkeypatch.setattr(LocalDisk, "put_file", full)
    with pytest.raises(StorageError, match="disk full"):
        again.retry(run, ENGINE, "dies", WallClock(), silent, with_engine(Healed, []))
    monkeypatch.setattr(LocalDisk, "put_file", put_file)
    engines: list[Watched] = []
    done = again.retry(run, ENGINE, "again", WallClock(), silent, with_engine(Healed, engines))
    assert (done.generation, done.mended) == (1, 4)
    assert engines[0].records < 4
    assert verify(run, deep=True).gaps == []


def test_only_what_can_come_out_otherwise_is_retried(place: FolderRun) -> None:
    run = finished(place)
    with pytest.raises(UsageError, match="--only too_long: would be rejected again"):
        again.retry(run, RejectionClass.TOO_LONG, "again", WallClock(), silent)


def test_a_run_that_is_not_finished_is_refused_with_what_to_do(place: FolderRun) -> None:
    run = place.open()
    with pytest.raises(UsageError, match="finish it first: gristmill resume"):
        again.replay(run, 1, "again", WallClock(), silent)
    with pytest.raises(UsageError, match="finish it first: gristmill resume"):
        again.retry(run, ENGINE, "again", WallClock(), silent)
