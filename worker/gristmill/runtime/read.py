"""Shard -> parts of records. Resumes at the very offset where the last published part ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gristmill.contract.blueprint import PartSize
from gristmill.contract.manifest import PartManifest
from gristmill.contract.record import Record
from gristmill.contract.shard import Cursor, InputObject, Shard
from gristmill.formats.protocol import Reader
from gristmill.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class ReadPart:
    """Contiguous records of a shard, not yet inferred."""

    shard: int
    part: int
    start: Cursor
    end: Cursor
    last: bool
    """No record of the shard comes after it."""
    records: tuple[Record, ...]

    @property
    def first(self) -> int:
        return self.records[0].ordinal


@dataclass(frozen=True, slots=True)
class StoreSource:
    """One input object in its store, held to the etag it was planned with."""

    store: ObjectStore
    object: InputObject

    def read(self, start: int, stop: int) -> bytes:
        return self.store.get_range(self.object.key, start, stop, etag=self.object.etag)


class ShardReader:
    """The parts of one shard that are not yet published, in order."""

    def __init__(
        self,
        shard: Shard,
        reader: Reader,
        inputs: ObjectStore,
        size: PartSize,
        limit: int | None,
        published: Mapping[int, PartManifest],
    ) -> None:
        self._shard = shard
        self._reader = reader
        self._inputs = inputs
        self._size = size
        self._limit = limit
        self._published = published
        self._part = 0
        self._ordinal = 0
        self._cursor = Cursor(0, shard.splits[0].start) if shard.splits else self._end
        self._stream: Iterator[tuple[int, Record]] | None = None
        self._ahead: tuple[int, Record] | None = None
        self._done = False

    @property
    def _end(self) -> Cursor:
        return Cursor(len(self._shard.splits), 0)

    @property
    def empty(self) -> bool:
        """Whether the shard was read to its end and holds no record at all."""
        return self._done and self._part == 0

    def next_part(self) -> ReadPart | None:
        """The next part to infer; None when no record is left. Blocks.

        A part ends at `size.records` or `size.bytes`, whichever comes first: a pure function of
        the records. Raises BadInputError, ObjectChangedError and StorageError.
        """
        self._skip_published()
        if self._done:
            return None
        if self._stream is None:
            self._stream = self._records()
            self._ahead = next(self._stream, None)
        if self._ahead is None:
            self._done = True
            return None
        return self._take(self._stream)

    def _take(self, stream: Iterator[tuple[int, Record]]) -> ReadPart:
        records: list[Record] = []
        start, weight = self._cursor, 0
        ahead = self._ahead
        most, heaviest = self._size.records, self._size.bytes
        while ahead is not None and len(records) < most and weight < heaviest:
            split, record = ahead
            records.append(record)
            weight += len(record.raw)
            ahead = next(stream, None)
        self._ahead = ahead
        self._done = ahead is None
        self._cursor = self._end if ahead is None else Cursor(split, record.end)
        part = ReadPart(
            shard=self._shard.index,
            part=self._part,
            start=start,
            end=self._cursor,
            last=self._done,
            records=tuple(records),
        )
        self._part += 1
        self._ordinal += len(records)
        return part

    def _skip_published(self) -> None:
        while (manifest := self._published.get(self._part)) is not None:
            self._part += 1
            self._ordinal = manifest.first + manifest.counts.records
            self._cursor = manifest.end
            self._done = manifest.last
            self._stream = None

    def _records(self) -> Iterator[tuple[int, Record]]:
        ordinal, cursor = self._ordinal, self._cursor
        for index in range(cursor.split, len(self._shard.splits)):
            split = self._shard.splits[index]
            at = cursor.position if index == cursor.split else split.start
            source = StoreSource(self._inputs, self._shard.objects[split.object])
            for record in self._reader.records(source, split.start, split.stop, at, ordinal):
                if self._limit is not None and ordinal >= self._limit:
                    return
                yield index, record
                ordinal += 1
