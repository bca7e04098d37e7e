"""What a person wants to know of a run: how far, how fast, at what cost, and where to look."""

from typing import Self

from pydantic import BaseModel, ConfigDict

from gristmill.client.plan import Run
from gristmill.client.state import RunState
from gristmill.contract.manifest import AttemptReport, Counts
from gristmill.contract.process import ExitCode


class Report(BaseModel):
    """The one JSON object that `--json` prints; the tables show the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    state: str
    """finished | unfinished | cancelled"""
    directory: str
    output: str
    exit_code: int
    message: str | None
    shards: int
    shards_done: int
    records: int
    ok: int
    rejected: int
    rejected_by_class: dict[str, int]
    tokens: int
    padding_ratio: float
    wall_seconds: float
    """Of this call; 0 when nothing was run."""
    worker_seconds: float
    """Of all attempts together."""
    engine_seconds: float
    load_seconds: float
    records_per_second: float
    """Records by wall time of this call, or by worker time when nothing was run."""
    tokens_per_second: float
    usd: float | None
    """At capacity.usd_per_hour; None when it is absent."""
    usd_per_1000: float | None
    attempts: int
    lost_records: int
    """Inferred in vain: twice, or in the engine when a worker had to stop."""
    kept_records: int
    """Of parts cut short by a reclaim, kept for the next attempt."""
    useful_share: float | None
    """Part of the workers' time in which the engine computed what was published, 0 to 1."""
    given_up: dict[str, int]
    """Unfinished shards that were given up -> how often they were begun."""
    skipped: dict[str, int]
    """Objects of the input left out: why -> how many."""
    results: list[str]
    dead_letters: list[str]

    @classmethod
    def of(
        cls,
        run: Run,
        state: RunState,
        usd_per_hour: float | None,
        *,
        wall_seconds: float = 0.0,
        done_here: Counts | None = None,
        code: ExitCode = ExitCode.DONE,
        message: str | None = None,
    ) -> Self:
        counts = state.counts
        worker_seconds = sum(attempt.seconds for attempt in state.attempts)
        measured = done_here if done_here is not None else counts
        seconds = wall_seconds if done_here is not None else worker_seconds
        usd = cost(state.attempts, usd_per_hour)
        return cls(
            run=run.spec.run,
            state=_state(state),
            directory=run.store.uri,
            output=run.spec.blueprint.output.uri,
            exit_code=int(code),
            message=message,
            shards=run.plan.shards,
            shards_done=len(state.shards),
            records=counts.records,
            ok=counts.ok,
            rejected=counts.rejected_total,
            rejected_by_class={str(k): n for k, n in counts.rejected.items()},
            tokens=counts.tokens,
            padding_ratio=round(counts.padding_ratio, 4),
            wall_seconds=round(wall_seconds, 3),
            worker_seconds=round(worker_seconds, 3),
            engine_seconds=round(state.engine_seconds, 3),
            load_seconds=round(sum(a.load_seconds for a in state.attempts), 3),
            records_per_second=round(measured.records / seconds, 1) if seconds else 0.0,
            tokens_per_second=round(measured.tokens / seconds, 1) if seconds else 0.0,
            usd=usd,
            usd_per_1000=usd * 1000 / counts.records if usd and counts.records else None,
            attempts=len(state.attempts),
            lost_records=sum(attempt.lost_records for attempt in state.attempts),
            kept_records=sum(attempt.kept_records for attempt in state.attempts),
            useful_share=(
                round(min(1.0, state.engine_seconds / worker_seconds), 4)
                if worker_seconds
                else None
            ),
            given_up={str(f.shard): f.receives for f in state.failures},
            skipped=run.plan.skipped,
            results=[f.key for s in state.shards.values() for f in s.results],
            dead_letters=[
                s.dead_letter.key for s in state.shards.values() if s.dead_letter is not None
            ],
        )


def _state(state: RunState) -> str:
    if state.manifest is not None:
        return "finished"
    return "cancelled" if state.cancelled else "unfinished"


def cost(attempts: tuple[AttemptReport, ...], usd_per_hour: float | None) -> float | None:
    """Dollars of the machine time that all attempts took, waste and loading included."""
    if usd_per_hour is None:
        return None
    return sum(a.seconds * a.machine_share for a in attempts) / 3600 * usd_per_hour
