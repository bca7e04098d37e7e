"""ShardReader over real readers and a store in memory."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.client.cut import cut_shards
from gristmill.contract.blueprint import PartSize
from gristmill.contract.dataset import Input
from gristmill.contract.errors import ObjectChangedError
from gristmill.contract.manifest import Counts, PartManifest
from gristmill.contract.shard import Cursor, InputObject, Shard
from gristmill.contract.ticket import Ticket
from gristmill.formats.open import open_reader
from gristmill.formats.protocol import Reader
from gristmill.runtime.read import ReadPart, ShardReader, StoreSource
from tests.doubles.memory_store import MemoryStore
from tests.doubles.mill import json_lines

TEXTS = [f"text {index}" for index in range(23)]


class Shelf:
    """Three objects, the middle one of blank lines only, in one shard."""

    def __init__(self, split_bytes: int = 60) -> None:
        self.store = MemoryStore()
        for key, body in (
            ("a.jsonl", json_lines(TEXTS[:10])),
            ("b.jsonl", b"\n" * 100),
            ("c.jsonl", json_lines(TEXTS[10:])),
        ):
            self.store.put(key, body)
        self.reader: Reader = open_reader(
            Input.model_validate({"uri": "in", "format": {"kind": "jsonl"}}), ()
        )
        objects = [InputObject(i.key, i.size, i.etag) for i in self.store.list()]
        (self.shard,) = cut_shards(objects, self.reader, self.source, split_bytes, single=True)

    def source(self, item: InputObject) -> StoreSource:
        return StoreSource(self.store, item)

    def open(
        self,
        records: int = 4,
        heaviest: int = 10**6,
        limit: int | None = None,
        published: dict[int, PartManifest] | None = None,
        shard: Shard | None = None,
        ticket: Ticket | None = None,
    ) -> ShardReader:
        size = PartSize(records=records, bytes=heaviest)
        return ShardReader(
            shard or self.shard,
            self.reader,
            self.store,
            size,
            limit,
            published or {},
            ticket or Ticket(self.shard.index),
        )


def all_parts(reader: ShardReader) -> Iterator[ReadPart]:
    while (part := reader.next_part()) is not None:
        yield part


def texts(parts: list[ReadPart]) -> list[object]:
    return [record.inputs[0] for part in parts for record in part.records]


def manifest(part: ReadPart) -> PartManifest:
    return PartManifest(
        spec="spec",
        shard=part.shard,
        part=part.part,
        attempt="earlier",
        first=part.first,
        start=part.start,
        end=part.end,
        last=part.last,
        counts=Counts(records=len(part.records), ok=len(part.records)),
        files=(),
        engine_seconds=0,
    )


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_parts_hold_every_record_once_and_in_order(shelf: Shelf) -> None:
    parts = list(all_parts(shelf.open(records=4)))
    assert texts(parts) == TEXTS
    assert [part.part for part in parts] == list(range(6))
    assert [part.first for part in parts] == [0, 4, 8, 12, 16, 20]


def test_each_part_starts_where_the_one_before_ends_and_only_one_is_last(shelf: Shelf) -> None:
    parts = list(all_parts(shelf.open(records=4)))
    assert parts[0].start == Cursor(0, 0)
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert [part.last for part in parts] == [False] * 5 + [True]
    assert parts[-1].end == Cursor(len(shelf.shard.splits), 0)


@pytest.mark.parametrize("records", [23, 24, 1000])
def test_a_part_that_holds_the_whole_shard_is_the_last(shelf: Shelf, records: int) -> None:
    (part,) = all_parts(shelf.open(records=records))
    assert part.last


def test_a_part_is_closed_early_once_it_is_heavy_enough(shelf: Shelf) -> None:
    heaviest = 50
    *parts, last = all_parts(shelf.open(records=100, heaviest=heaviest))
    for part in parts:
        *before, closing = (len(record.raw) for record in part.records)
        assert sum(before) < heaviest <= sum(before) + closing
    assert texts([*parts, last]) == TEXTS


def test_a_record_over_the_weight_of_a_part_goes_alone(shelf: Shelf) -> None:
    assert {len(part.records) for part in all_parts(shelf.open(heaviest=1))} == {1}


@pytest.mark.parametrize("done", range(7))
def test_reading_goes_on_after_any_published_part(shelf: Shelf, done: int) -> None:
    parts = list(all_parts(shelf.open()))
    published = {part.part: manifest(part) for part in parts[:done]}
    assert list(all_parts(shelf.open(published=published))) == parts[done:]


@pytest.mark.parametrize("missing", range(6))
def test_a_part_missing_among_published_ones_is_read_alone(shelf: Shelf, missing: int) -> None:
    parts = list(all_parts(shelf.open()))
    published = {part.part: manifest(part) for part in parts if part.part != missing}
    assert list(all_parts(shelf.open(published=published))) == [parts[missing]]


def test_published_parts_are_not_read_again(shelf: Shelf) -> None:
    parts = list(all_parts(shelf.open(records=10)))
    shelf.store.put("a.jsonl", b"changed")  # would be refused if it were read
    published = {0: manifest(parts[0])}
    assert list(all_parts(shelf.open(records=10, published=published))) == parts[1:]


@pytest.mark.parametrize("limit", [1, 4, 5, 22, 23, 24])
def test_a_limit_ends_the_shard_after_so_many_records(shelf: Shelf, limit: int) -> None:
    parts = list(all_parts(shelf.open(limit=limit)))
    assert texts(parts) == TEXTS[:limit]
    assert parts[-1].last


def test_a_limit_counts_the_records_of_published_parts(shelf: Shelf) -> None:
    parts = list(all_parts(shelf.open(limit=6)))
    assert list(all_parts(shelf.open(limit=6, published={0: manifest(parts[0])}))) == parts[1:]


def test_a_shard_of_blank_lines_is_empty(shelf: Shelf) -> None:
    blank = Shard(0, (shelf.shard.objects[1],), shelf.shard.splits[:1])
    reader = shelf.open(shard=blank)
    assert not reader.empty
    assert reader.next_part() is None
    assert reader.empty


def test_a_shard_with_records_is_never_empty(shelf: Shelf) -> None:
    reader = shelf.open()
    assert list(all_parts(reader))
    assert not reader.empty


def test_a_changed_object_stops_reading(shelf: Shelf) -> None:
    reader = shelf.open()
    shelf.store.put("c.jsonl", json_lines(["other"]))
    with pytest.raises(ObjectChangedError, match=r"c\.jsonl"):
        list(all_parts(reader))


@given(split_bytes=st.integers(1, 400), records=st.integers(1, 30), heaviest=st.integers(1, 300))
@settings(max_examples=60, deadline=None)
def test_no_cut_and_no_part_size_loses_or_moves_a_record(
    split_bytes: int, records: int, heaviest: int
) -> None:
    shelf = Shelf(split_bytes)
    parts = list(all_parts(shelf.open(records, heaviest)))
    assert texts(parts) == TEXTS
    for done in {0, len(parts) // 2, len(parts) - 1}:
        published = {part.part: manifest(part) for part in parts[:done]}
        assert list(all_parts(shelf.open(records, heaviest, published=published))) == parts[done:]
