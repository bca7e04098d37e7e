import anyio
import pytest

from gristmill.client.state import read_state, run_manifest
from gristmill.contract import layout
from gristmill.contract.errors import StorageError
from gristmill.runtime.telemetry import publish_report
from tests.doubles.engines import DieAfter
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import Mill, json_lines

TEXTS = [f"text {index}" for index in range(100)]


@pytest.fixture
def mill() -> Mill:
    bodies = {"a.jsonl": json_lines(TEXTS[:60]), "b.jsonl": json_lines(TEXTS[60:])}
    return Mill.planned(bodies, InstantClock())


def test_a_fresh_run_has_nothing(mill: Mill) -> None:
    state = read_state(mill.run)
    assert (state.counts.records, state.shards, state.parts, state.manifest) == (0, {}, {}, None)


def test_finished_shards_stand_for_their_parts_and_open_ones_count_theirs(mill: Mill) -> None:
    with pytest.raises(BaseExceptionGroup):
        anyio.run(mill.work, DieAfter(mill.engine(), batches=9))
    published = mill.named("part_published")
    state = read_state(mill.run)
    assert state.counts.records == sum(event["counts"]["records"] for event in published)
    assert set(state.shards) == {event["shard"] for event in mill.named("shard_published")}
    assert not {shard for shard, _ in state.parts} & set(state.shards)


def test_attempts_come_in_the_order_of_their_beginning(mill: Mill) -> None:
    for name in ("b", "a"):
        place = mill.workplace(attempt=name)
        publish_report(mill.run, place.tally.report())
        anyio.run(mill.clock.sleep, 1)
    assert [attempt.attempt for attempt in read_state(mill.run).attempts] == ["b", "a"]


def test_a_damaged_manifest_is_named(mill: Mill) -> None:
    mill.run.put(layout.MANIFEST, b"{")
    with pytest.raises(StorageError, match=r"memory://runs/mill/manifest\.json: is no RunManifest"):
        run_manifest(mill.run)
