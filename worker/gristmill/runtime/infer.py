"""Planned parts -> outcomes: keeps every slot of the engine filled, across part boundaries."""

from collections.abc import Sequence

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from gristmill.contract.clock import Clock
from gristmill.contract.errors import EngineDeadError
from gristmill.contract.record import Outcome, Rejected, RejectionClass, Stage
from gristmill.engines.protocol import Engine, Prepared
from gristmill.runtime.part import PlannedPart


async def infer_parts(
    engine: Engine,
    clock: Clock,
    planned: ObjectReceiveStream[PlannedPart],
    inferring: ObjectSendStream[PlannedPart],
    stop: anyio.Event,
) -> None:
    """Run the batches of each part; pass the part on at once, so that parts leave in order.

    After `stop`, a part already begun is finished and no other is begun.
    Raises EngineDeadError when the engine can't go on.
    """
    slots = anyio.Semaphore(engine.profile.slots)

    async def run(part: PlannedPart, batch: tuple[int, ...]) -> None:
        try:
            began = clock.monotonic()
            outcomes = await infer_batch(engine, part.prepared, batch)
            seconds = clock.monotonic() - began
            part.settle(batch, outcomes, seconds / engine.profile.slots)
        finally:
            slots.release()

    async with planned, inferring, anyio.create_task_group() as batches:
        await slots.acquire()  # one is held at all times, so that a part is begun when it can run
        async for part in planned:
            if stop.is_set():
                break
            await inferring.send(part)
            for batch in part.batches:
                batches.start_soon(run, part, batch)
                await slots.acquire()


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
