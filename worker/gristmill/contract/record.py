"""Record and Outcome: what flows through a worker. Memory only, never written in this shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

Input = str | tuple[str, str] | tuple[int, ...] | bytes
"""One thing an engine looks at: a text, a pair of texts, token ids, or the bytes of a file."""

NO_PARAMS: Final[Mapping[str, Any]] = MappingProxyType({})


class Stage(StrEnum):
    """Where on its way a record was rejected."""

    READ = "read"
    PREPARE = "prepare"
    INFER = "infer"
    ENCODE = "encode"


class RejectionClass(StrEnum):
    """Why a record was rejected. Stable: people filter and retry by it."""

    UNPARSABLE = "unparsable"
    """Not valid in its format: bad JSON, bad UTF-8, a ragged row, a wrong request line."""
    TOO_LARGE = "too_large"
    """More bytes than `input.max_record_bytes`."""
    MISSING_FIELD = "missing_field"
    """A field that the template, the id or a carried column needs is absent or null."""
    WRONG_TYPE = "wrong_type"
    """A field holds a value that its declared column can't."""
    TOO_LONG = "too_long"
    """More tokens than the model takes, by the engine's own tokenizer."""
    UNSUPPORTED = "unsupported"
    """Well-formed, but asks for something the engine doesn't do."""
    ENGINE = "engine"
    """The engine raised on this record alone; it was found by bisection."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The outcome of a record that has no result. `message` never quotes more than a few words."""

    reason: RejectionClass
    stage: Stage
    message: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The outcome of a record with a result: one value per field of the engine's profile."""

    values: tuple[Any, ...]


Outcome = Completed | Rejected


@dataclass(frozen=True, slots=True)
class Record:
    """One input item."""

    ordinal: int
    """Its number in its shard, from 0."""
    place: str
    """Where it lies, whatever the splits: `<object>@<byte offset>` or `<object>#<row>`."""
    end: int
    """Position after it in its object, in bytes or rows: reading may go on here."""
    id: str
    inputs: tuple[Input, ...]
    """What the engine looks at: one for most records; several for a request that lists several."""
    raw: bytes
    """The record as it came, for the dead letter."""
    carried: tuple[Any, ...] = ()
    """Values of the carried columns, in the order of the plan's columns."""
    params: Mapping[str, Any] = field(default_factory=lambda: NO_PARAMS)
    """Options of this record alone, in dialects that have them."""
    fault: Rejected | None = None
    """Set when reading already rejected it; such a record never reaches the engine."""
