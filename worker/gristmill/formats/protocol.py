"""Reader and Writer: what the core asks of a dialect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from gristmill.contract.column import Column
from gristmill.contract.record import Outcome, Record
from gristmill.contract.shard import InputObject


class Source(Protocol):
    """One input object, open for reading at the etag it was planned with."""

    @property
    def object(self) -> InputObject: ...

    def read(self, start: int, stop: int) -> bytes:
        """Bytes [start, stop), fewer at the object's end. Blocks.

        Raises ObjectChangedError when the object is no longer the one that was planned with.
        """
        ...


class Reader(Protocol):
    """Reads one dialect. Every method blocks; the runtime calls them from worker threads."""

    @property
    def footers(self) -> bool:
        """Whether `cuts` and `columns` read a footer; where not, planning reads no data at all."""
        ...

    def columns(self, source: Source | None) -> tuple[Column, ...]:
        """The carried columns with their types; `source` is the first object, when footers."""
        ...

    def cuts(self, source: Source, target: int) -> tuple[int | None, list[int]]:
        """(extent, cuts): how many positions the object has, and where it may be cut so that
        pieces have about `target` stored bytes each. Cuts ascend and lie strictly inside; a
        source without `footers` must not be read. An extent of 0 means no record.

        Raises BadInputError for an object damaged as a whole.
        """
        ...

    def records(
        self, source: Source, start: int, stop: int | None, at: int, ordinal: int
    ) -> Iterator[Record]:
        """Records of the split [start, stop) from position `at` on (`start`, or some record's
        `end`), numbered from `ordinal`. A bad record is yielded with its fault set.

        Raises BadInputError for an object that is damaged as a whole (cut short, say).
        """
        ...


class Writer(Protocol):
    """Writes one dialect, with a schema fixed at construction."""

    @property
    def extensions(self) -> Mapping[str, str]:
        """What it writes: name (`results`, perhaps `errors`) -> file extension."""
        ...

    def encode(
        self, records: Sequence[Record], outcomes: Sequence[Outcome]
    ) -> dict[str, tuple[bytes, int]]:
        """One part: name -> (body, records in it). `results` is always there, even if empty;
        another name only when it holds something. Pure: same arguments, same bytes."""
        ...

    def merge(self, name: str, bodies: Iterable[bytes], target: Path) -> None:
        """Bodies of one name, in order -> one file for readers, in bounded memory. Pure: same
        bodies, same bytes."""
        ...

    def ids(self, name: str, path: Path) -> Iterator[str]:
        """Ids of the records in a merged file, in order, for verification."""
        ...

    def lines(self, path: Path) -> Iterator[str]:
        """A merged `results` file as one JSON object a record, in order, for people to look at."""
        ...
