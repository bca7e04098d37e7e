"""A part on its way through the engine: its plan, its outcomes, and when it is done."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import anyio

from gristmill.contract.manifest import Counts
from gristmill.contract.record import Outcome, Rejected, RejectionClass
from gristmill.engines.protocol import EngineProfile, Prepared
from gristmill.runtime.batch import padded_tokens, plan_batches
from gristmill.runtime.read import ReadPart

NOTHING: Final[Mapping[int, Outcome]] = MappingProxyType({})


def parts_ahead(slots: int, records: int) -> int:
    """Parts of so many records that may wait for one before them while they are inferred: enough
    that a record which takes long keeps no slot of the engine empty."""
    return max(1, -(-2 * slots // records))


class PlannedPart:
    """Its batches are a pure function of its records and the engine's profile, never of timing,
    nor of what an attempt before this one had inferred of it (`kept`) when it was cut short."""

    def __init__(
        self,
        read: ReadPart,
        prepared: Prepared,
        profile: EngineProfile,
        kept: Mapping[int, Outcome] = NOTHING,
        kept_seconds: float = 0.0,
        *,
        alone: bool = False,
    ) -> None:
        """`alone`: the records that are not kept are planned by themselves, as a retry does."""
        self.read = read
        self.prepared = prepared
        self.engine_seconds = kept_seconds
        self.ended = anyio.Event()
        """Nothing more will come: it is complete, or was cut short."""
        self._outcomes: list[Outcome | None] = [r.fault for r in read.records]
        for index, fault in prepared.faults.items():
            self._outcomes[index] = fault
        self._members = [i for i, outcome in enumerate(self._outcomes) if outcome is None]
        planned = plan_batches(
            prepared.lengths,
            [i for i in self._members if not (alone and i in kept)],
            tokens=profile.batch_tokens,
            records=profile.batch_records,
        )
        # One with only some of its outcomes was planned otherwise, by another version: run again.
        self.batches = [b for b in planned if not (kept and kept.keys() >= set(b))]
        """Those that are to be run."""
        if kept:
            for index in set(self._members).difference(*self.batches):
                self._outcomes[index] = kept[index]
        self._planned = len(planned)
        self._open = len(self.batches)
        self._begun = 0
        self._settled = 0
        self._tokens = sum(prepared.lengths[i] for i in self._members)
        self._padded = (
            self._tokens
            if profile.batch_tokens is None
            else sum(padded_tokens(prepared.lengths, batch) for batch in planned)
        )
        if not self.batches:
            self.ended.set()

    @property
    def complete(self) -> bool:
        """Whether every record has its outcome."""
        return self._open == 0

    def begin(self, batch: Sequence[int]) -> None:
        """The engine has it now."""
        self._begun += len(batch)

    def settle(self, batch: Sequence[int], outcomes: Sequence[Outcome], seconds: float) -> None:
        """Take one batch's outcomes. `seconds`: its share of the engine's time, which it had in
        common with the other batches in flight."""
        for index, outcome in zip(batch, outcomes, strict=True):
            self._outcomes[index] = outcome
        self.engine_seconds += seconds
        self._settled += len(batch)
        self._open -= 1
        if self._open == 0:
            self.ended.set()

    def cut(self) -> None:
        """No more of its batches will be run here. Harmless when it is complete."""
        self.ended.set()

    @property
    def inferred(self) -> dict[int, Outcome]:
        """What the engine answered so far: index in the part -> outcome."""
        found = ((index, self._outcomes[index]) for index in self._members)
        return {index: outcome for index, outcome in found if outcome is not None}

    @property
    def fresh(self) -> int:
        """Records that were inferred here, not kept from before."""
        return self._settled

    @property
    def lost(self) -> int:
        """Records that the engine was given and that it never answered."""
        return self._begun - self._settled

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each record, in order. Only once it is complete."""
        settled = [outcome for outcome in self._outcomes if outcome is not None]
        if len(settled) != len(self._outcomes):
            raise AssertionError("a part was asked for outcomes before it was complete")
        return settled

    def counts(self) -> Counts:
        rejected: dict[RejectionClass, int] = {}
        for outcome in self._outcomes:
            if isinstance(outcome, Rejected):
                rejected[outcome.reason] = rejected.get(outcome.reason, 0) + 1
        total = len(self._outcomes)
        return Counts(
            records=total,
            ok=total - sum(rejected.values()),
            rejected=dict(sorted(rejected.items())),
            tokens=self._tokens,
            padded_tokens=self._padded,
            batches=self._planned,
        )
