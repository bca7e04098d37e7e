"""How the input is cut: InputObject -> Split -> Shard. A plan is O(splits), never O(records)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from gristmill.contract.column import Column, ColumnType


@dataclass(frozen=True, slots=True)
class InputObject:
    """One file or object as it was listed."""

    key: str
    """Relative to the input's root, with `/` between folders, unescaped."""
    size: int
    """Bytes."""
    etag: str
    extent: int | None = None
    """How many positions it has (bytes, rows, 1 for a file that is one record); None: unknown
    until read, as in a compressed stream."""


@dataclass(frozen=True, slots=True)
class Split:
    """Positions [start, stop) of one object; stop None means to its end."""

    object: int
    """Index in the shard's objects."""
    start: int
    stop: int | None


@dataclass(frozen=True, slots=True)
class Shard:
    """The unit of the work queue: a few splits, in input order."""

    index: int
    objects: tuple[InputObject, ...]
    splits: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place inside a shard: between two records. Resuming starts here, at this very offset."""

    split: int
    position: int


def share_before(shard: Shard, cursor: Cursor) -> float:
    """How much of a shard lies before a cursor, 0 to 1, by its splits and the positions in them.
    A split of unknown length counts as nothing until it is passed."""
    if cursor.split >= len(shard.splits):
        return 1.0
    split = shard.splits[cursor.split]
    inside = 0.0
    if split.stop is not None and split.stop > split.start:
        inside = min(1.0, (cursor.position - split.start) / (split.stop - split.start))
    return (cursor.split + inside) / len(shard.splits)


class ShardPlan(BaseModel):
    """The head of a plan. Its shards lie in pages beside it, a line each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shards: int
    objects: int
    bytes: int
    """Bytes of all objects to read, as they are stored."""
    page_shards: int
    """Shards a page."""
    skipped: dict[str, int]
    """Objects that were listed and left out: why -> how many."""
    carried: tuple[Column, ...] = ()
    """Input columns carried to the results, with the types found or declared."""

    @property
    def carry(self) -> dict[str, ColumnType]:
        """The carried columns as a reader takes them: every object is read with these types."""
        return {column.name: column.type for column in self.carried}


_SHARD = TypeAdapter(Shard)


def encode_page(shards: Iterable[Shard]) -> bytes:
    """Shards -> JSON lines, one shard a line, byte-stable."""
    return b"".join(
        json.dumps(_compact(shard), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for shard in shards
    )


def decode_page(body: bytes) -> Iterator[Shard]:
    """The reverse of `encode_page`."""
    for line in body.splitlines():
        raw = json.loads(line)
        yield _SHARD.validate_python(
            {
                "index": raw["shard"],
                "objects": [dict(zip(_OBJECT, o, strict=True)) for o in raw["objects"]],
                "splits": [dict(zip(_SPLIT, s, strict=True)) for s in raw["splits"]],
            }
        )


_OBJECT = ("key", "size", "etag", "extent")
_SPLIT = ("object", "start", "stop")


def _compact(shard: Shard) -> dict[str, Any]:
    return {
        "shard": shard.index,
        "objects": [(o.key, o.size, o.etag, o.extent) for o in shard.objects],
        "splits": [(s.object, s.start, s.stop) for s in shard.splits],
    }
