"""One worker: pulls shards until none is left, along one straight line.

feed:    lease -> read -> prepare -> plan        (worker threads)
infer:   planned batches -> engine -> outcomes   (the engine's own)
publish: encode -> part -> shard -> complete     (worker threads)

The three run side by side, joined by short streams, and the line crosses shard boundaries: the
next part is read and the last one is written while the engine works.
"""

from dataclasses import dataclass, field

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from gristmill.contract import layout
from gristmill.contract.blueprint import Errors
from gristmill.contract.canonical import decode
from gristmill.contract.errors import ReclaimedError
from gristmill.contract.manifest import PartManifest
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import Shard, share_before
from gristmill.contract.ticket import Ticket
from gristmill.engines.protocol import Engine
from gristmill.formats.protocol import Reader
from gristmill.queue.protocol import WorkQueue
from gristmill.runtime.budget import check_rejected
from gristmill.runtime.commit import Commit
from gristmill.runtime.host import Host
from gristmill.runtime.infer import infer_parts
from gristmill.runtime.leases import Leases
from gristmill.runtime.part import PlannedPart, parts_ahead
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.read import ShardReader
from gristmill.runtime.telemetry import Emit, Tally, publish_report
from gristmill.store.protocol import ObjectStore

GRACE_SECONDS = 25.0
"""Time for parts already begun once told to stop. Clouds give 30 seconds and then kill."""
POLL_SECONDS = 0.5
"""Between looks at the queue while other workers hold the last shards."""
REPORT_SECONDS = 10.0
AHEAD = 1
"""Parts that wait for the engine."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Everything a worker is given. It makes none of it."""

    host: Host
    spec: RunSpec
    errors: Errors
    run: ObjectStore
    inputs: ObjectStore
    plan: PlanPages
    queue: WorkQueue
    engine: Engine
    reader: Reader
    commit: Commit
    tally: Tally
    emit: Emit
    grace_seconds: float = GRACE_SECONDS


@dataclass(slots=True)
class OpenShard:
    """A shard in this worker's hands: what is known of its parts."""

    shard: Shard
    parts: dict[int, PartManifest] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether parts 0 to the last are all published."""
        top = max(self.parts, default=None)
        return top is not None and self.parts[top].last and len(self.parts) == top + 1


class Worker:
    """Coordinates; computes nothing itself."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._host = place.host
        self._leases = Leases(place.queue, place.host)
        self._open: dict[int, OpenShard] = {}

    async def run(self, stop: anyio.Event) -> None:
        """Work until no shard is left, or until `stop`.

        Raises ReclaimedError after a stop, everything finished being published; and any error
        of the attempt: EngineDeadError, BadInputError, TooManyRejectedError, StorageError ...
        """
        async with self._leases.kept(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._report)
            tasks.start_soon(self._end_grace, stop, tasks.cancel_scope)
            await self._line(stop)
            tasks.cancel_scope.cancel()
        if stop.is_set():
            raise ReclaimedError("told to stop; everything finished is published")

    async def _line(self, stop: anyio.Event) -> None:
        planned_in, planned_out = anyio.create_memory_object_stream[PlannedPart](AHEAD)
        inferring_in, inferring_out = anyio.create_memory_object_stream[PlannedPart](
            parts_ahead(self._place.engine.profile.slots, self._place.spec.blueprint.part.records)
        )
        async with anyio.create_task_group() as stages:
            stages.start_soon(self._feed, planned_in, stop)
            stages.start_soon(
                infer_parts,
                self._place.engine,
                self._host.clock,
                planned_out,
                inferring_in,
                stop,
            )
            stages.start_soon(self._publish, inferring_out)

    async def _feed(self, planned: ObjectSendStream[PlannedPart], stop: anyio.Event) -> None:
        async with planned:
            try:
                while not stop.is_set() and (shard := await self._next_shard(stop)) is not None:
                    await self._feed_shard(shard, planned, stop)
            except anyio.BrokenResourceError:
                if not stop.is_set():
                    raise

    async def _feed_shard(
        self, shard: OpenShard, planned: ObjectSendStream[PlannedPart], stop: anyio.Event
    ) -> None:
        place, index = self._place, shard.shard.index
        blueprint = place.spec.blueprint
        reader = ShardReader(
            shard.shard,
            place.reader,
            place.inputs,
            blueprint.part,
            place.spec.limit,
            dict(shard.parts),
        )
        while not stop.is_set() and self._leases.holds(Ticket(index)):
            read = await self._host.offload(reader.next_part)
            if read is None:
                break
            prepared = await self._host.offload(place.engine.prepare, read.records)
            await planned.send(PlannedPart(read, prepared, place.engine.profile))
        if reader.empty:
            await self._publish_shard(shard)

    async def _next_shard(self, stop: anyio.Event) -> OpenShard | None:
        """The next shard with parts to do; None when no work is left for anybody."""
        while not stop.is_set():
            lease = await self._leases.take()
            if lease is None:
                if not await self._leases.others_work():
                    return None
                await self._host.clock.sleep(POLL_SECONDS)
                continue
            shard = await self._host.offload(self._look_up, lease.ticket.shard)
            if shard is None:
                await self._leases.complete(lease.ticket)
            elif shard.complete:
                await self._publish_shard(shard)
            else:
                self._open[lease.ticket.shard] = shard
                return shard
        return None

    def _look_up(self, index: int) -> OpenShard | None:
        """What is published of a shard; None when it is finished. Blocks."""
        run = self._place.run
        shard = OpenShard(self._place.plan.shard(index))
        for info in run.list(layout.shard_prefix(index)):
            if layout.shard_of_manifest(info.key) is not None:
                return None
            if (found := layout.part_of_manifest(info.key)) is not None:
                where = f"{run.uri}/{info.key}"
                shard.parts[found[1]] = decode(PartManifest, run.get(info.key), where)
        return shard

    async def _publish(self, inferring: ObjectReceiveStream[PlannedPart]) -> None:
        commit, offload = self._place.commit, self._host.offload
        async with inferring, anyio.create_task_group() as shards:
            async for part in inferring:
                await part.done.wait()
                manifest, won = await offload(commit.publish_part, part)
                self._account(part, manifest, won=won)
                shard = self._open.get(manifest.shard)
                if shard is None:  # lost to another worker, who has finished it since
                    continue
                shard.parts[manifest.part] = manifest
                if shard.complete:
                    shards.start_soon(self._publish_shard, shard)

    def _account(self, part: PlannedPart, manifest: PartManifest, *, won: bool) -> None:
        tally = self._place.tally
        tally.add(manifest, won=won, records=len(part.read.records))
        if won:
            self._place.emit(
                "part_published",
                shard=manifest.shard,
                part=manifest.part,
                counts=manifest.counts.model_dump(mode="json"),
                engine_seconds=round(manifest.engine_seconds, 6),
                shard_share=round(self._share_before(manifest), 4),
            )
        check_rejected(self._place.errors, tally.counts, finished=False)

    def _share_before(self, manifest: PartManifest) -> float:
        shard = self._open.get(manifest.shard)
        return share_before(shard.shard, manifest.end) if shard else 1.0

    async def _publish_shard(self, shard: OpenShard) -> None:
        parts = [shard.parts[index] for index in sorted(shard.parts)]
        index = shard.shard.index
        manifest = await self._host.offload(self._place.commit.publish_shard, index, parts)
        await self._leases.complete(Ticket(index))
        self._open.pop(index, None)
        self._place.emit(
            "shard_published", shard=index, records=manifest.counts.records, parts=manifest.parts
        )

    async def _report(self) -> None:
        while True:  # at once, so that an attempt killed early has cost something too
            await self._host.offload(publish_report, self._place.run, self._place.tally.report())
            await self._host.clock.sleep(REPORT_SECONDS)

    async def _end_grace(self, stop: anyio.Event, scope: anyio.CancelScope) -> None:
        await stop.wait()
        self._place.emit("stopping", grace_seconds=self._place.grace_seconds)
        await self._host.clock.sleep(self._place.grace_seconds)
        scope.cancel()
