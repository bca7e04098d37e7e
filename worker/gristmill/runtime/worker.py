"""One worker: pulls shards until none is left, along one straight line.

feed:    lease -> read -> prepare -> plan        (worker threads)
infer:   planned batches -> engine -> outcomes   (the engine's own)
publish: encode -> part -> shard -> complete     (worker threads)

The three run side by side, joined by short streams, and the line crosses shard boundaries: the
next part is read and the last one is written while the engine works.
"""

from collections.abc import Callable
from dataclasses import dataclass

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from gristmill.contract.blueprint import Errors
from gristmill.contract.errors import ReclaimedError
from gristmill.contract.manifest import PartManifest
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import share_before
from gristmill.contract.ticket import Ticket
from gristmill.engines.protocol import Engine
from gristmill.formats.protocol import Reader
from gristmill.queue.protocol import WorkQueue
from gristmill.runtime.budget import check_rejected
from gristmill.runtime.commit import Commit
from gristmill.runtime.control import unwanted
from gristmill.runtime.host import Host
from gristmill.runtime.infer import Pulse, infer_parts
from gristmill.runtime.leases import Leases
from gristmill.runtime.open_ticket import OpenTicket, divide, look_up, published_parts
from gristmill.runtime.part import PlannedPart, parts_ahead
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.read import ShardReader
from gristmill.runtime.stall import STALL_SECONDS, watch_engine
from gristmill.runtime.telemetry import Emit, Tally, publish_report
from gristmill.store.protocol import ObjectStore

GRACE_SECONDS = 25.0
"""From the word to stop to the end. Clouds give 30 seconds and then kill."""
PUBLISH_SECONDS = 10.0
"""The last of them, for publishing: batches that are in the engine by then are lost."""
POLL_SECONDS = 1.0
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
    stall_seconds: float = STALL_SECONDS
    on_stall: Callable[[], None] = lambda: None
    """Called when the engine hangs, before its error is raised."""


class Worker:
    """Coordinates; computes nothing itself."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._host = place.host
        self._leases = Leases(place.queue, place.host)
        self._pulse = Pulse(place.host.clock)
        self._open: dict[Ticket, OpenTicket] = {}
        self._looked_hungry_at = float("-inf")
        self._unwanted = False

    async def run(self, stop: anyio.Event) -> None:
        """Work until no ticket is left, the run is cancelled, or `stop`.

        Raises ReclaimedError after a stop, all that fitted the time being published; and any
        error of the attempt: EngineDeadError, BadInputError, TooManyRejectedError ...
        """
        halt = anyio.Event()
        async with self._leases.kept(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._report, stop)
            tasks.start_soon(self._end_grace, stop, halt, tasks.cancel_scope)
            tasks.start_soon(
                watch_engine,
                self._pulse,
                self._place.stall_seconds,
                self._place.emit,
                self._place.on_stall,
            )
            await self._line(stop, halt)
            tasks.cancel_scope.cancel()
        if stop.is_set() and not self._unwanted:
            tally = self._place.tally
            raise ReclaimedError(
                f"told to stop; everything finished is published, {tally.kept_records:,} records "
                f"of parts cut short are kept, {tally.lost_records:,} were lost"
            )

    async def _line(self, stop: anyio.Event, halt: anyio.Event) -> None:
        planned_in, planned_out = anyio.create_memory_object_stream[PlannedPart](AHEAD)
        inferring_in, inferring_out = anyio.create_memory_object_stream[PlannedPart](
            parts_ahead(self._place.engine.profile.slots, self._place.spec.blueprint.part.records)
        )
        async with anyio.create_task_group() as stages:
            stages.start_soon(self._feed, planned_in, stop)
            stages.start_soon(
                infer_parts,
                self._place.engine,
                self._pulse,
                planned_out,
                inferring_in,
                stop,
                halt,
            )
            stages.start_soon(self._publish, inferring_out)

    async def _feed(self, planned: ObjectSendStream[PlannedPart], stop: anyio.Event) -> None:
        async with planned:
            try:
                while not stop.is_set() and (opened := await self._next_ticket(stop)) is not None:
                    await self._feed_ticket(opened, planned, stop)
            except anyio.BrokenResourceError:
                if not stop.is_set():
                    raise

    async def _feed_ticket(
        self, opened: OpenTicket, planned: ObjectSendStream[PlannedPart], stop: anyio.Event
    ) -> None:
        place, offload = self._place, self._host.offload
        blueprint = place.spec.blueprint
        reader = ShardReader(
            opened.shard,
            place.reader,
            place.inputs,
            blueprint.part,
            place.spec.limit,
            opened.parts,
            opened.ticket,
        )
        while not stop.is_set() and self._leases.holds(opened.ticket):
            await self._share(opened, reader)
            read = await offload(reader.next_part)
            if read is None:
                opened.fed = True
                break
            prepared = await offload(place.engine.prepare, read.records)
            kept = await offload(place.commit.kept, opened.partials.get(read.part, ()))
            await planned.send(PlannedPart(read, prepared, place.engine.profile, *kept))
        if reader.empty:
            await self._publish_shard(opened.shard.index, [])
            await self._leases.complete(opened.ticket)
        elif opened.finished:  # by others, since it was looked up
            await self._end_ticket(opened)

    async def _share(self, opened: OpenTicket, reader: ShardReader) -> None:
        """Hand later parts back while others wait for work, so that all finish together."""
        now = self._host.clock.monotonic()
        if now - self._looked_hungry_at < POLL_SECONDS:
            return
        self._looked_hungry_at = now
        if await self._host.offload(self._place.queue.hungry):
            later = await self._host.offload(divide, opened, reader)
            if later is not None:
                await self._host.offload(self._place.queue.fill, [later])
                self._place.emit("handed_back", shard=later.shard, part=later.part)

    async def _next_ticket(self, stop: anyio.Event) -> OpenTicket | None:
        """The next ticket with parts to do; None when no work is left for anybody."""
        quiet_since: float | None = None
        while not stop.is_set():
            lease = await self._leases.take()
            if lease is None:
                now = self._host.clock.monotonic()
                if await self._leases.others_work():
                    quiet_since = None
                else:
                    quiet_since = now if quiet_since is None else quiet_since
                    if now - quiet_since >= self._place.queue.quiet_seconds:
                        return None
                await self._host.clock.sleep(POLL_SECONDS)
                continue
            quiet_since = None
            if lease.ticket in self._open and self._open[lease.ticket].fed:
                # Delivered a second time: all of it is on its way already.
                await self._host.clock.sleep(POLL_SECONDS)
                continue
            opened = await self._host.offload(
                look_up, self._place.run, self._place.plan, lease.ticket
            )
            if opened is None:
                await self._leases.complete(lease.ticket)
            elif opened.finished:
                await self._end_ticket(opened)
            else:
                self._open[lease.ticket] = opened
                return opened
        return None

    async def _publish(self, inferring: ObjectReceiveStream[PlannedPart]) -> None:
        async with inferring, anyio.create_task_group() as tickets:
            async for part in inferring:
                await part.ended.wait()
                if not part.complete:
                    await self._keep(part)
                    continue
                manifest, won = await self._host.offload(self._place.commit.publish_part, part)
                self._account(part, manifest, won=won)
                # None when it was lost to another worker who has finished it since; several when
                # a whole shard came back while a half of it was in these hands.
                for opened in self._covering(manifest):
                    opened.parts[manifest.part] = manifest
                    await self._leases.progressed(opened.ticket)
                    if opened.finished:
                        tickets.start_soon(self._end_ticket, opened)

    async def _keep(self, part: PlannedPart) -> None:
        """Publish the outcomes of a part that was cut short."""
        if part.fresh:
            await self._host.offload(self._place.commit.publish_partial, part)
        self._place.tally.cut(kept=part.fresh, lost=part.lost)
        self._place.emit(
            "part_cut",
            shard=part.read.shard,
            part=part.read.part,
            kept_records=part.fresh,
            lost_records=part.lost,
        )

    def _covering(self, manifest: PartManifest) -> list[OpenTicket]:
        covers = (manifest.shard, manifest.part)
        return [opened for opened in self._open.values() if opened.covers(*covers)]

    async def _end_ticket(self, opened: OpenTicket) -> None:
        """Its parts are published. Whoever publishes the last part publishes the shard."""
        if opened.ended:
            return
        opened.ended = True
        self._open.pop(opened.ticket, None)
        shard = opened.shard.index
        if not opened.complete:
            found = await self._host.offload(lambda: list(published_parts(self._place.run, shard)))
            opened.parts |= {manifest.part: manifest for manifest in found}
        if opened.complete:
            await self._publish_shard(shard, [opened.parts[i] for i in sorted(opened.parts)])
        await self._leases.complete(opened.ticket)

    def _account(self, part: PlannedPart, manifest: PartManifest, *, won: bool) -> None:
        tally = self._place.tally
        if tally.add(manifest, won=won, records=len(part.read.records)):
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
        covering = self._covering(manifest)
        return share_before(covering[0].shard, manifest.end) if covering else 1.0

    async def _publish_shard(self, shard: int, parts: list[PartManifest]) -> None:
        publish = self._place.commit.publish_shard
        manifest, won = await self._host.offload(publish, shard, parts)
        if won:
            self._place.emit(
                "shard_published",
                shard=shard,
                records=manifest.counts.records,
                parts=manifest.parts,
            )

    async def _report(self, stop: anyio.Event) -> None:
        while True:  # at once, so that an attempt killed early has cost something too
            await self._host.offload(publish_report, self._place.run, self._place.tally.report())
            if not stop.is_set() and await self._host.offload(unwanted, self._place.run):
                self._unwanted = True
                self._place.emit("unwanted")
                stop.set()
            await self._host.clock.sleep(REPORT_SECONDS)

    async def _end_grace(
        self, stop: anyio.Event, halt: anyio.Event, scope: anyio.CancelScope
    ) -> None:
        await stop.wait()
        grace = self._place.grace_seconds
        self._place.emit("stopping", grace_seconds=grace)
        await self._host.clock.sleep(max(0.0, grace - PUBLISH_SECONDS))
        halt.set()
        await self._host.clock.sleep(min(grace, PUBLISH_SECONDS))
        scope.cancel()
