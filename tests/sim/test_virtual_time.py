"""The worker's own code on a virtual clock: hours of leases and crashes, in milliseconds."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

import anyio
import pytest
from anyio.lowlevel import checkpoint

from gristmill.queue.protocol import Lease
from gristmill.runtime.host import Host
from gristmill.runtime.leases import BEATS_PER_LEASE
from tests.doubles.engines import Watched
from tests.doubles.memory_queue import MemoryQueue
from tests.doubles.mill import Mill, blueprint, json_lines
from tests.doubles.trio_clock import TrioClock, simulate

T = TypeVar("T")
Args = TypeVarTuple("Args")

LEASE_SECONDS = 60.0
TEXTS = [f"record number {index}" for index in range(720)]
BODIES = {"a.jsonl": json_lines(TEXTS[:400]), "b.jsonl": json_lines(TEXTS[400:])}


def planned(**engine: Any) -> Mill:
    return Mill.planned(
        BODIES,
        TrioClock(),
        blueprint(engine, shard={"bytes": 8000}),
        lease_seconds=LEASE_SECONDS,
    )


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    """The results of a worker that nothing disturbs and that takes no time."""
    found: dict[str, bytes] = {}

    async def body() -> None:
        mill = planned()
        await mill.work()
        found.update(mill.results())

    assert simulate(body) < 1
    return found


def test_a_two_hour_job_with_lease_renewals_gives_the_bytes_of_a_quick_one(
    expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    renewals: list[Lease] = []
    extend = MemoryQueue.extend

    def counted(queue: MemoryQueue, lease: Lease) -> None:
        renewals.append(lease)
        extend(queue, lease)

    monkeypatch.setattr(MemoryQueue, "extend", counted)

    async def body() -> None:
        mill = planned(records_per_second=0.1)
        await mill.work()
        assert mill.results() == expected
        assert mill.verify().gaps == []

    seconds = simulate(body)
    assert seconds == pytest.approx(2 * 3600, rel=0.01)
    beats = seconds * BEATS_PER_LEASE / LEASE_SECONDS
    # One lease is held at a time, and two around a shard's end.
    assert beats - 1 <= len(renewals) <= beats * 1.1 + 4


@pytest.mark.parametrize("seed", range(10))
def test_a_worker_crashed_anywhere_is_followed_by_one_that_finishes_with_the_same_bytes(
    expected: dict[str, bytes], seed: int
) -> None:
    moments = random.Random(seed)

    async def body() -> None:
        mill = planned(records_per_second=1.0)
        part = mill.spec.blueprint.part.records
        crashes = inferred = 0
        while mill.queue.outstanding():
            engine = Watched(mill.engine())
            with anyio.CancelScope() as life:
                dying = Dying(life, after=moments.randrange(1, 250))
                await mill.work(engine, host=Host(mill.clock, dying), queue=Unreleased(mill.queue))
            crashes += life.cancelled_caught
            inferred += engine.records
        assert crashes
        assert mill.results() == expected
        assert mill.verify().gaps == []
        # One part in the engine and one on its way out of it.
        assert inferred <= len(TEXTS) + 2 * crashes * part

    simulate(body)


def test_two_workers_at_once_give_the_bytes_of_one(expected: dict[str, bytes]) -> None:
    async def body() -> None:
        mill = planned(records_per_second=1.0)
        async with anyio.create_task_group() as crew:
            for _ in range(2):
                crew.start_soon(mill.work)
        assert mill.results() == expected
        assert mill.verify().gaps == []

    one = len(TEXTS)
    assert simulate(body) < 0.7 * one


def test_workers_whose_heartbeats_are_lost_do_work_twice_and_nothing_wrong(
    expected: dict[str, bytes],
) -> None:
    async def body() -> None:
        mill = planned(records_per_second=0.1)  # a shard takes many leases
        engines = [Watched(mill.engine()) for _ in range(2)]
        async with anyio.create_task_group() as crew:
            for engine in engines:
                crew.start_soon(partial(mill.work, engine, queue=Deaf(mill.queue)))
        assert mill.results() == expected
        assert mill.verify().gaps == []
        assert sum(engine.records for engine in engines) > len(TEXTS)

    simulate(body)


def test_a_continuous_engine_is_kept_full_though_its_parts_are_smaller_than_its_slots() -> None:
    async def body() -> None:
        mill = planned(records_per_second=10, continuous=True)
        engine = Watched(mill.engine())
        await mill.work(engine)
        assert engine.most == engine.profile.slots
        assert mill.spec.blueprint.part.records < engine.profile.slots
        assert mill.texts() == TEXTS

    # 0.5 to 1.5 times as long a record, so slots that wait for the slowest would double it.
    assert simulate(body) < 1.4 * len(TEXTS) / 10


class Dying:
    """Runs blocking calls in place, and cancels the worker at one of the checkpoints around."""

    def __init__(self, life: anyio.CancelScope, *, after: int) -> None:
        self._life = life
        self._left = after

    async def __call__(self, call: Callable[[*Args], T], *args: *Args) -> T:
        await self._step()
        result = call(*args)
        await self._step()
        return result

    async def _step(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._life.cancel()
        await checkpoint()


class Unreleased:
    """A queue whose worker is killed before it can give a lease back."""

    def __init__(self, queue: MemoryQueue) -> None:
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

    def release(self, lease: Lease, *, spent: bool) -> None:
        pass


class Deaf(Unreleased):
    """A queue that hears no heartbeat."""

    def extend(self, lease: Lease) -> None:
        pass
