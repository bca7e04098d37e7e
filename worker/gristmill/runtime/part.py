"""A part on its way through the engine: its plan, its outcomes, and when it is done."""

from collections.abc import Sequence

import anyio

from gristmill.contract.manifest import Counts
from gristmill.contract.record import Outcome, Rejected, RejectionClass
from gristmill.engines.protocol import EngineProfile, Prepared
from gristmill.runtime.batch import padded_tokens, plan_batches
from gristmill.runtime.read import ReadPart


def parts_ahead(slots: int, records: int) -> int:
    """Parts of so many records that may wait for one before them while they are inferred: enough
    that a record which takes long keeps no slot of the engine empty."""
    return max(1, -(-2 * slots // records))


class PlannedPart:
    """Its batches are a pure function of its records and the engine's profile, never of timing."""

    def __init__(self, read: ReadPart, prepared: Prepared, profile: EngineProfile) -> None:
        self.read = read
        self.prepared = prepared
        self.engine_seconds = 0.0
        self.done = anyio.Event()
        self._outcomes: list[Outcome | None] = [r.fault for r in read.records]
        for index, fault in prepared.faults.items():
            self._outcomes[index] = fault
        members = [i for i, outcome in enumerate(self._outcomes) if outcome is None]
        self.batches = plan_batches(
            prepared.lengths, members, tokens=profile.batch_tokens, records=profile.batch_records
        )
        self._open = len(self.batches)
        self._tokens = sum(prepared.lengths[i] for i in members)
        self._padded = (
            self._tokens
            if profile.batch_tokens is None
            else sum(padded_tokens(prepared.lengths, batch) for batch in self.batches)
        )
        if not self.batches:
            self.done.set()

    def settle(self, batch: Sequence[int], outcomes: Sequence[Outcome], seconds: float) -> None:
        """Take one batch's outcomes. `seconds`: its share of the engine's time, which it had in
        common with the other batches in flight."""
        for index, outcome in zip(batch, outcomes, strict=True):
            self._outcomes[index] = outcome
        self.engine_seconds += seconds
        self._open -= 1
        if self._open == 0:
            self.done.set()

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each record, in order. Only once it is done."""
        settled = [outcome for outcome in self._outcomes if outcome is not None]
        if len(settled) != len(self._outcomes):
            raise AssertionError("a part was asked for outcomes before it was done")
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
            batches=len(self.batches),
        )
