"""Ticket: what a work queue hands out. Names work and holds no data."""

import json
from dataclasses import dataclass
from typing import Any, Self

from gristmill.contract.errors import StorageError
from gristmill.contract.shard import Cursor


@dataclass(frozen=True, slots=True)
class Ticket:
    """The parts of a shard from `part` to before `stop`. Shards start as one ticket each; when
    workers would be idle, a worker hands later parts of its own back as another."""

    shard: int
    part: int = 0
    stop: int | None = None
    """None: to the shard's end."""
    start: Cursor | None = None
    """Where `part` starts; None: where the shard does."""
    first: int = 0
    """Ordinal of the first record of `part`."""

    @property
    def order(self) -> tuple[int, int]:
        """Names it: no two tickets of a run start with the same part."""
        return self.shard, self.part

    def encode(self) -> str:
        """As JSON, byte-stable."""
        start = None if self.start is None else [self.start.split, self.start.position]
        fields: dict[str, Any] = {"shard": self.shard}
        if start is not None:
            fields |= {"part": self.part, "start": start, "first": self.first}
        if self.stop is not None:
            fields |= {"stop": self.stop}
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> Self:
        """Raises StorageError for what is no ticket."""
        try:
            fields = json.loads(text)
            start = fields.pop("start", None)
            return cls(**fields, start=None if start is None else Cursor(*start))
        except (ValueError, TypeError, AttributeError) as error:
            raise StorageError(
                f"the work queue holds {text[:200]!r}, which is no ticket of this version; empty "
                "the queue, then resume the run"
            ) from error
