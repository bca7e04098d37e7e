from collections import defaultdict
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.client import cut
from gristmill.client.cut import cut_shards
from gristmill.contract.dataset import Input
from gristmill.contract.errors import BadInputError
from gristmill.contract.shard import InputObject, Shard
from gristmill.formats.open import open_reader
from gristmill.formats.protocol import Reader
from tests.doubles.memory_source import MemorySource

KINDS = {"jsonl": "{}.jsonl", "packed": "{}.jsonl.gz", "files": "{}.txt", "csv": "{}.csv"}


def reader(kind: str) -> Reader:
    plain = {"kind": {"packed": "jsonl"}.get(kind, kind)}
    return open_reader(Input.model_validate({"uri": "in", "format": plain}), ())


def unread(item: InputObject) -> MemorySource:
    class Sized(MemorySource):
        @property
        def object(self) -> InputObject:
            return item

        def read(self, start: int, stop: int) -> bytes:
            raise AssertionError("planning read data")

    return Sized(item.key, b"")


def shards(kind: str, sizes: list[int], target: int, *, single: bool = False) -> list[Shard]:
    objects = [
        InputObject(KINDS[kind].format(f"{n:05d}"), size, "e") for n, size in enumerate(sizes)
    ]
    return list(cut_shards(objects, reader(kind), unread, target, single=single))


@given(
    kind=st.sampled_from(sorted(KINDS)),
    sizes=st.lists(st.integers(1, 5000), min_size=1, max_size=30),
    target=st.integers(1, 6000),
    single=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_the_splits_tile_every_object_in_order(
    kind: str, sizes: list[int], target: int, single: bool
) -> None:
    found = shards(kind, sizes, target, single=single)
    pieces: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    extents: dict[str, int | None] = {}
    for shard in found:
        for split in shard.splits:
            item = shard.objects[split.object]
            pieces[item.key].append((split.start, split.stop))
            extents[item.key] = item.extent
    assert list(pieces) == [KINDS[kind].format(f"{n:05d}") for n in range(len(sizes))]
    for key, cuts in pieces.items():
        assert cuts[0][0] == 0
        assert [start for start, _ in cuts[1:]] == [stop for _, stop in cuts[:-1]]
        assert cuts[-1][1] == extents[key]
    assert [shard.index for shard in found] == list(range(len(found)))
    assert not single or len(found) == 1


@given(sizes=st.lists(st.integers(1, 500), min_size=1, max_size=40), target=st.integers(1, 600))
@settings(max_examples=60, deadline=None)
def test_a_shard_is_over_its_size_only_when_it_holds_one_split(
    sizes: list[int], target: int
) -> None:
    for shard in shards("packed", sizes, target):
        if len(shard.splits) > 1:
            assert sum(item.size for item in shard.objects) <= target


def test_one_large_file_becomes_many_shards_and_small_ones_share_one() -> None:
    assert len(shards("jsonl", [1000], 100)) == 10
    assert len(shards("jsonl", [10] * 100, 100)) == 10


def test_a_packed_object_is_one_split_of_unknown_length() -> None:
    (shard,) = shards("packed", [10**9], 100)
    assert [(s.start, s.stop) for s in shard.splits] == [(0, None)]
    assert shard.objects[0].extent is None


def test_a_shard_of_many_tiny_objects_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "MOST_SPLITS", 10)
    assert [len(shard.splits) for shard in shards("files", [1] * 25, 10**9)] == [10, 10, 5]


def test_each_shard_knows_only_its_own_objects() -> None:
    found = shards("jsonl", [50] * 10, 100)
    keys = [item.key for item in chain.from_iterable(shard.objects for shard in found)]
    assert len(keys) == len(set(keys)) == 10


def test_a_damaged_object_is_named() -> None:
    def source(item: InputObject) -> MemorySource:
        return MemorySource(item.key, b"no parquet at all")

    objects = [InputObject("a.parquet", 17, "e")]
    with pytest.raises(BadInputError, match=r"^a\.parquet: has no valid footer"):
        list(cut_shards(objects, reader("parquet"), source, 100))
