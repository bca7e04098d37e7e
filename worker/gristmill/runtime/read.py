"""Shard -> parts of records. Resumes at the very offset where the last published part ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from gristmill.contract.blueprint import PartSize
from gristmill.contract.manifest import PartManifest
from gristmill.contract.record import Record
from gristmill.contract.shard import Cursor, InputObject, Shard
from gristmill.contract.ticket import Ticket
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
    """The parts of one ticket that are not yet published, in order."""

    def __init__(
        self,
        shard: Shard,
        reader: Reader,
        inputs: ObjectStore,
        size: PartSize,
        limit: int | None,
        published: Mapping[int, PartManifest],
        ticket: Ticket,
    ) -> None:
        self._shard = shard
        self._reader = reader
        self._inputs = inputs
        self._size = size
        self._limit = limit
        self._published = published
        self.stop = ticket.stop
        """Parts from this one on are others'; None: to the shard's end."""
        self._part = ticket.part
        self._ordinal = ticket.first
        self._split = 0
        """The split that the last record read lies in."""
        self._cursor = ticket.start or Cursor(0, shard.splits[0].start)
        self._stream: Iterator[Record] | None = None
        self._taken: list[Record] = []
        self._ahead: Record | None = None
        self._done = False

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
        if self.stop is not None and self._part >= self.stop:
            return None
        if self._stream is None and not self._done:
            self._stream = self._records()
            self._ahead = next(self._stream, None)
        self._done = self._done or self._ahead is None
        if self._done or self._stream is None:
            return None
        return self._take(self._stream)

    def ahead(self) -> list[Ticket]:
        """Where each part that is left begins: reads to the end and keeps nothing of it. Blocks."""
        place = Ticket(self._shard.index, self._part, self.stop, self._cursor, self._ordinal)
        again = ShardReader(
            self._shard, self._reader, self._inputs, self._size, self._limit, self._published, place
        )
        return [
            Ticket(part.shard, part.part, self.stop, part.start, part.first)
            for part in iter(again.next_part, None)
        ]

    def _take(self, stream: Iterator[Record]) -> ReadPart:
        most, heaviest = self._size.records, self._size.bytes
        records = self._taken
        weight, split, ahead = 0, self._split, None
        for record in chain(filter(None, (self._ahead,)), stream):
            if len(records) == most or weight >= heaviest:
                ahead = record
                break
            records.append(record)
            weight += len(record.raw)
            split = self._split
        self._ahead, self._done = ahead, ahead is None
        start, self._cursor = self._cursor, self._after(records[-1], split)
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
        self._taken = []
        return part

    def _after(self, record: Record, split: int) -> Cursor:
        """Where reading goes on after a record of a split."""
        if self._done:
            return Cursor(len(self._shard.splits), 0)
        if split != self._split:
            return Cursor(self._split, self._shard.splits[self._split].start)
        return Cursor(split, record.end)

    def _skip_published(self) -> None:
        while (manifest := self._published.get(self._part)) is not None:
            self._part += 1
            self._ordinal = manifest.first + manifest.counts.records
            self._cursor = manifest.end
            self._done = manifest.last
            self._stream = None

    def _records(self) -> Iterator[Record]:
        resumed = self._cursor

        def of_split(index: int) -> Iterator[Record]:
            # Called when the split before it has no more: all its records are in `_taken`.
            split, self._split = self._shard.splits[index], index
            at = resumed.position if index == resumed.split else split.start
            source = StoreSource(self._inputs, self._shard.objects[split.object])
            ordinal = self._ordinal + len(self._taken)
            return self._reader.records(source, split.start, split.stop, at, ordinal)

        splits = range(resumed.split, len(self._shard.splits))
        records = chain.from_iterable(map(of_split, splits))
        if self._limit is None:
            return records
        return islice(records, max(0, self._limit - self._ordinal))
