"""Publishing: the first put of a manifest wins, and the loser takes what the winner wrote."""

import json

import pytest

from gristmill.contract import layout
from gristmill.contract.canonical import sha256
from gristmill.contract.errors import StorageError
from gristmill.contract.manifest import PartManifest
from gristmill.contract.record import Completed
from gristmill.contract.ticket import Ticket
from gristmill.runtime.commit import Commit
from gristmill.runtime.part import PlannedPart
from gristmill.runtime.read import ShardReader
from tests.doubles.engines import PROFILE
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import Mill, json_lines

TEXTS = [f"text {index}" for index in range(20)] + ["", "last"]


@pytest.fixture
def mill() -> Mill:
    return Mill.planned({"a.jsonl": json_lines(TEXTS)}, InstantClock())


def commit(mill: Mill, attempt: str) -> Commit:
    return mill.workplace(attempt=attempt).commit


def inferred(mill: Mill) -> list[PlannedPart]:
    """The parts of shard 0 with their outcomes, every record that can answered."""
    engine, (shard,) = mill.engine(), mill.shards()
    reader = ShardReader(
        shard, mill.reader, mill.inputs, mill.spec.blueprint.part, None, {}, Ticket(0)
    )
    parts = []
    while (read := reader.next_part()) is not None:
        part = PlannedPart(read, engine.prepare(read.records), engine.profile)
        for batch in part.batches:
            part.settle(batch, [Completed((read.records[i].inputs[0],)) for i in batch], 0.5)
        parts.append(part)
    return parts


def test_the_first_put_wins_and_the_loser_adopts_its_manifest(mill: Mill) -> None:
    part = inferred(mill)[0]
    first, won = commit(mill, "one").publish_part(part)
    second, lost = commit(mill, "two").publish_part(part)
    assert (won, lost) == (True, False)
    assert second == first
    assert first.attempt == "one"


def test_data_lies_under_a_key_of_its_attempt(mill: Mill) -> None:
    part = inferred(mill)[0]
    for attempt in ("one", "two"):
        commit(mill, attempt).publish_part(part)
    data = [info.key for info in mill.run.list("shards/000000/data/")]
    digest = sha256(mill.run.get(data[0]))[:12]
    assert data == [
        f"shards/000000/data/000000-one-{digest}-results.jsonl",
        f"shards/000000/data/000000-two-{digest}-results.jsonl",
    ]


def test_a_part_that_an_attempt_does_twice_never_spoils_what_was_published(mill: Mill) -> None:
    part = inferred(mill)[0]
    one = commit(mill, "one")
    held, _ = one.publish_part(part)
    before = {file.key: mill.run.get(file.key) for file in held.files}
    again = PlannedPart(part.read, part.prepared, PROFILE)
    for batch in again.batches:  # an engine whose answers differ from one time to the next
        again.settle(batch, [Completed(("other",)) for _ in batch], 1.0)
    assert one.publish_part(again) == (held, False)
    assert {file.key: mill.run.get(file.key) for file in held.files} == before


def test_data_is_there_before_the_manifest_that_names_it(mill: Mill) -> None:
    mill.run.fail_next("put_new", StorageError("no answer"))
    with pytest.raises(StorageError):
        commit(mill, "one").publish_part(inferred(mill)[0])
    assert list(mill.run.list("shards/000000/data/"))
    assert not list(mill.run.list("shards/000000/parts/"))


def test_no_manifest_names_data_that_could_not_be_written(mill: Mill) -> None:
    mill.run.fail_next("put", StorageError("full"))
    with pytest.raises(StorageError, match="full"):
        commit(mill, "one").publish_part(inferred(mill)[0])
    assert not list(mill.run.list(layout.SHARDS))


def test_an_answer_lost_on_its_way_is_still_our_own_part(mill: Mill) -> None:
    """Storage says `it was there` to the repetition of a put whose answer was lost."""
    part, mine = inferred(mill)[0], commit(mill, "one")
    mine.publish_part(part)
    again, won = mine.publish_part(part)
    assert won
    assert again.attempt == "one"


def test_a_manifest_says_what_the_part_holds(mill: Mill) -> None:
    parts = [commit(mill, "one").publish_part(part)[0] for part in inferred(mill)]
    last = parts[-1]
    assert last.last
    assert (last.first, last.counts.records, last.counts.ok) == (16, 6, 5)
    assert {file.name: file.records for file in last.files} == {"results": 5, "rejected": 1}
    assert last.engine_seconds == 0.5
    assert last.spec == mill.spec.identity()
    assert PartManifest.model_validate_json(mill.run.get("shards/000000/parts/000002.json")) == last


def test_a_shard_is_its_parts_in_order(mill: Mill) -> None:
    one = commit(mill, "one")
    done, _ = one.publish_shard(0, [one.publish_part(part)[0] for part in inferred(mill)])
    assert mill.texts() == [text for text in TEXTS if text]
    assert done.counts.records == len(TEXTS)
    assert done.dead_letter is not None
    letter = json.loads(mill.run.get(done.dead_letter.key))
    assert letter["class"] == "missing_field"
    assert letter["attempt"] == "one"


def test_two_workers_that_finish_a_shard_write_the_same_bytes(mill: Mill) -> None:
    one, two = commit(mill, "one"), commit(mill, "two")
    parts = [one.publish_part(part)[0] for part in inferred(mill)]
    first, won = one.publish_shard(0, parts)
    assert won
    before = mill.results()
    assert two.publish_shard(0, parts) == (first, False)
    assert mill.results() == before


def test_a_shard_is_not_published_before_its_results(mill: Mill) -> None:
    one = commit(mill, "one")
    parts = [one.publish_part(part)[0] for part in inferred(mill)]
    mill.output.fail_next("put_file", StorageError("full"))
    with pytest.raises(StorageError, match="full"):
        one.publish_shard(0, parts)
    assert not mill.results()
    with pytest.raises(StorageError):
        mill.run.get(layout.shard_manifest(0))


def test_part_data_that_changed_is_never_merged(mill: Mill) -> None:
    one = commit(mill, "one")
    parts = [one.publish_part(part)[0] for part in inferred(mill)]
    key = parts[1].files[0].key
    mill.run.put(key, mill.run.get(key)[:-1])
    with pytest.raises(StorageError, match=rf"{key}: its bytes .* delete its part manifest"):
        one.publish_shard(0, parts)


def test_an_empty_shard_has_an_empty_result(mill: Mill) -> None:
    done, _ = commit(mill, "one").publish_shard(0, [])
    assert mill.results() == {"results-000000.jsonl": b""}
    assert done.counts.records == 0
    assert done.dead_letter is None


def test_a_scratch_folder_without_room_is_a_storage_error(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = commit(mill, "one")
    parts = [one.publish_part(part)[0] for part in inferred(mill)]

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gristmill.formats.jsonl.concatenate", full)
    with pytest.raises(StorageError, match=r"scratch folder .*No space left.*TMPDIR"):
        one.publish_shard(0, parts)
