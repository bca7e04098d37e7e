"""A finished run looked at, or mended, by running some of its parts again on this machine."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

import anyio
from pydantic import BaseModel, ConfigDict

from gristmill import __version__
from gristmill.client.finish import refuse_gaps, summed_up
from gristmill.client.plan import Run
from gristmill.client.state import manifest_key, read_state
from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json, decode
from gristmill.contract.clock import Clock
from gristmill.contract.errors import UsageError
from gristmill.contract.location import locate
from gristmill.contract.manifest import Determinism, PartManifest, RunManifest, ShardManifest
from gristmill.contract.record import RejectionClass
from gristmill.formats.open import open_reader, open_writer
from gristmill.runtime.again import Again, Load, load
from gristmill.runtime.commit import Commit
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.telemetry import Tally, publish_report
from gristmill.store.open import open_store

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Hears (done, of how many)."""


class Replayed(BaseModel):
    """What a replay saw."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    parts: int
    """Run again."""
    same_bytes: int
    """Of them, with the very bytes."""
    determinism: Determinism


class Retried(BaseModel):
    """What a retry did."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    generation: int
    records: int
    """Given another chance."""
    mended: int
    """Of them, completed this time."""


def replay(
    run: Run, sample: int, attempt: str, clock: Clock, progress: Progress, load: Load = load
) -> Replayed:
    """Run `sample` parts again and write the level of determinism into the RunManifest.

    Raises UsageError for a run that is not finished.
    """
    manifest = _finished(run)
    keys = _part_keys(run)
    chosen = Random(f"{run.spec.identity()} {attempt}").sample(keys, min(sample, len(keys)))

    async def compare(again: Again) -> int:
        same = 0
        for done, key in enumerate(sorted(chosen), start=1):
            part = decode(PartManifest, run.store.get(key), f"{run.store.uri}/{key}")
            same += await again.same_bytes(part)
            progress(done, len(chosen))
        return same

    same = _with_engine(run, attempt, clock, load, compare)
    level = Determinism.CONFIG if run.spec.gristmill == __version__ else Determinism.RECORDS
    if same == len(chosen):
        level = Determinism.BYTES
    told = manifest.model_copy(update={"determinism": level})
    run.store.put(manifest_key(run.store), canonical_json(told))
    return Replayed(run=run.spec.run, parts=len(chosen), same_bytes=same, determinism=level)


def retry(
    run: Run,
    reason: RejectionClass,
    attempt: str,
    clock: Clock,
    progress: Progress,
    load: Load = load,
) -> Retried:
    """Infer the records rejected for this reason again and merge the answers in place.

    Parts, shards and the run get a new generation, the old manifests and data stay. Done again
    after a crash, it goes on where it was. Raises UsageError for a run that is not finished.
    """
    before = _finished(run)
    if reason is not RejectionClass.ENGINE:
        raise UsageError(
            f"--only {reason}: would be rejected again, as the record and the blueprint decide it; "
            f"only `{RejectionClass.ENGINE}` can come out otherwise. Mend the input or the "
            "blueprint, and start a new run"
        )
    generation = before.generation + 1

    async def mend(again: Again) -> None:
        shards = [n for n, s in sorted(read_state(run.store).shards.items()) if _has(s, reason)]
        for done, shard in enumerate(shards, start=1):
            for part in again.parts(shard).values():
                if part.generation < generation and part.counts.rejected.get(reason):
                    await again.retry_part(part, reason, generation)
            again.retry_shard(shard, generation)
            progress(done, len(shards))

    records = before.counts.rejected.get(reason, 0)
    if not records:
        return Retried(run=run.spec.run, generation=before.generation, records=0, mended=0)
    tally = Tally(attempt, clock, 1.0)
    _with_engine(run, attempt, clock, load, mend)
    publish_report(run.store, tally.report(0))
    refuse_gaps(run)
    price = run.spec.blueprint.capacity.usd_per_hour
    after = summed_up(run, read_state(run.store), price, generation)
    run.store.put_new(layout.retry_manifest(generation), canonical_json(after))
    left = after.counts.rejected.get(reason, 0)
    return Retried(run=run.spec.run, generation=generation, records=records, mended=records - left)


def _with_engine(
    run: Run, attempt: str, clock: Clock, load: Load, work: Callable[[Again], Awaitable[T]]
) -> T:
    spec, blueprint = run.spec, run.spec.blueprint

    async def attend() -> T:
        engine = load(run.spec, clock)
        columns = engine.profile.columns
        writer = open_writer(blueprint.output.format, columns, run.plan.carried)
        output = open_store(blueprint.output.uri)
        again = Again(
            spec=spec,
            run=run.store,
            inputs=open_store(locate(blueprint.input.uri).root),
            plan=PlanPages(run.store, run.plan),
            reader=open_reader(blueprint.input, run.plan.carry),
            writer=writer,
            engine=engine,
            commit=Commit(run.store, output, writer, columns, spec.identity(), attempt),
            clock=clock,
        )
        try:
            return await work(again)
        finally:
            await engine.aclose()

    return anyio.run(attend)


def _finished(run: Run) -> RunManifest:
    manifest = read_state(run.store).manifest
    if manifest is None:
        raise UsageError(
            f"run {run.spec.run} is not finished; finish it first: gristmill resume {run.store.uri}"
        )
    return manifest


def _part_keys(run: Run) -> list[str]:
    """Of each part the key of the manifest that holds."""
    keys = {layout.part_of_manifest(info.key): info.key for info in run.store.list(layout.SHARDS)}
    keys.pop(None, None)
    return list(keys.values())


def _has(shard: ShardManifest, reason: RejectionClass) -> bool:
    return shard.counts.rejected.get(reason, 0) > 0
