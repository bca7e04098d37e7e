"""Planned parts -> outcomes: keeps every slot of the engine filled, across part boundaries."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream, TaskGroup

from gristmill.contract.clock import Clock
from gristmill.contract.errors import EngineDeadError
from gristmill.contract.record import Outcome, Rejected, RejectionClass, Stage
from gristmill.engines.protocol import Engine, Prepared
from gristmill.runtime.part import PlannedPart


@dataclass(slots=True)
class Pulse:
    """Whether the engine moves: what the watch over it looks at."""

    clock: Clock
    in_flight: int = 0
    """Batches in the engine now."""
    moved_at: float = 0.0
    """When a batch last went in or came out; monotonic seconds."""

    def begin(self) -> None:
        self.in_flight += 1
        self.moved_at = self.clock.monotonic()

    def end(self) -> None:
        self.in_flight -= 1
        self.moved_at = self.clock.monotonic()


async def infer_parts(
    engine: Engine,
    pulse: Pulse,
    planned: ObjectReceiveStream[PlannedPart],
    inferring: ObjectSendStream[PlannedPart],
    stop: anyio.Event,
    halt: anyio.Event,
) -> None:
    """Run the batches of each part; pass the part on at once, so that parts leave in order.

    After `stop` no batch is begun; those in flight are finished, until `halt`. Then every part
    passed on has ended: complete, or cut short.
    Raises EngineDeadError when the engine can't go on.
    """
    slots = anyio.Semaphore(engine.profile.slots)
    clock = pulse.clock
    begun: list[PlannedPart] = []

    async def run(part: PlannedPart, batch: tuple[int, ...]) -> None:
        part.begin(batch)
        pulse.begin()
        try:
            began = clock.monotonic()
            outcomes = await infer_batch(engine, part.prepared, batch)
            seconds = clock.monotonic() - began
            part.settle(batch, outcomes, seconds / engine.profile.slots)
        finally:
            pulse.end()
            slots.release()

    async def feed(batches: TaskGroup) -> None:
        await slots.acquire()  # one is held at all times, so that a part is begun when it can run
        async for part in planned:
            begun[:] = [p for p in begun if not p.complete] + [part]
            await inferring.send(part)
            for batch in part.batches:
                batches.start_soon(run, part, batch)
                await slots.acquire()

    async with planned, inferring:
        async with _ended_by(halt), anyio.create_task_group() as batches, _ended_by(stop):
            await feed(batches)
        for part in begun:
            part.cut()


@asynccontextmanager
async def _ended_by(event: anyio.Event) -> AsyncIterator[None]:
    """The block is cancelled, and left, once the event is set."""

    async def end(scope: anyio.CancelScope) -> None:
        await event.wait()
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end, tasks.cancel_scope)
        yield
        tasks.cancel_scope.cancel()


async def infer_part(engine: Engine, clock: Clock, part: PlannedPart) -> None:
    """One part by itself, a batch after another, to its end."""
    for batch in part.batches:
        part.begin(batch)
        began = clock.monotonic()
        outcomes = await infer_batch(engine, part.prepared, batch)
        part.settle(batch, outcomes, clock.monotonic() - began)


async def infer_batch(
    engine: Engine, prepared: Prepared, batch: Sequence[int]
) -> Sequence[Outcome]:
    """One engine call; when it raises, halves find the record that makes it raise.

    A lone record that makes the engine raise is rejected only if the engine then still answers
    a known-good probe: a dead engine is never mistaken for a bad record.
    """
    try:
        return await engine.infer(prepared, batch)
    except EngineDeadError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever an engine library raises is about a record
        if len(batch) == 1:
            return [await _blame(engine, error)]
    half = len(batch) // 2
    left = await infer_batch(engine, prepared, batch[:half])
    return [*left, *await infer_batch(engine, prepared, batch[half:])]


async def _blame(engine: Engine, error: Exception) -> Rejected:
    try:
        await engine.probe()
    except EngineDeadError:
        raise
    except Exception as second:
        raise EngineDeadError(
            f"the engine fails on a known-good record too ({type(second).__name__}: {second}); "
            "it was not the input"
        ) from second
    return Rejected(
        RejectionClass.ENGINE,
        Stage.INFER,
        f"the engine raised {type(error).__name__} on this record alone",
    )
