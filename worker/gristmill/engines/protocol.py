"""Engine: one shape for batch encoders and for decoders that batch continuously.

A batch engine has one slot: it is given a batch, answers it whole, is given the next. A decoder
has many slots and takes batches of one record; the runtime keeps all slots filled, across part
boundaries, and takes outcomes as they finish. Nothing in the runtime knows which it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gristmill.contract.column import Column
from gristmill.contract.record import Outcome, Record, Rejected


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """What an engine is, known once it is loaded and before any record is paid for."""

    columns: tuple[Column, ...]
    """What each Completed outcome holds, in this order."""
    slots: int
    """Batches in flight at once."""
    batch_tokens: int | None
    """Tokens of one batch, padding included; None: no limit."""
    batch_records: int
    """Records of one batch, at most."""
    batch_stable: bool
    """Same record, same bytes, whatever else is in its batch."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The records of one part, tokenized once. The records themselves stay with the runtime."""

    lengths: Sequence[int]
    """Tokens a record; 0 for a rejected one."""
    faults: Mapping[int, Rejected] = field(default_factory=dict)
    """Index in the part -> why it can't be inferred (too long, say)."""
    content: Any = None
    """The engine's own."""


class Engine(Protocol):
    """One loaded model."""

    @property
    def profile(self) -> EngineProfile: ...

    def prepare(self, records: Sequence[Record]) -> Prepared:
        """Tokenize a part. Blocks; called in a worker thread while the engine infers another part.

        Records with a fault are among them and must be left alone. Never raises for a bad record.
        """
        ...

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        """One batch: outcomes of the records at these indices of the part, in this order.

        Any exception but EngineDeadError is taken to be about some record in the batch: the
        runtime halves the batch to find it.
        """
        ...

    async def probe(self) -> None:
        """Infer something known to be good. Raises when the engine can't work any more.

        Asked after a record made the engine raise, to tell a bad record from a dead engine.
        """
        ...

    async def aclose(self) -> None: ...
