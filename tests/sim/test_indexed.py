"""Workers that share nothing but the run's store, on a virtual clock."""

import random
from functools import partial
from itertools import count
from typing import Any

import anyio
import pytest
import trio

from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.protocol import Lease
from gristmill.runtime.host import Host
from tests.doubles.engines import Watched
from tests.doubles.mill import Mill, blueprint, inline, json_lines
from tests.doubles.trio_clock import TrioClock, simulate

LEASE_SECONDS = 60.0
WORKERS = 3
TEXTS = [f"record number {index}" for index in range(720)]
BODIES = {"a.jsonl": json_lines(TEXTS[:400]), "b.jsonl": json_lines(TEXTS[400:])}


def planned(**engine: Any) -> Mill:
    return Mill.planned(BODIES, TrioClock(), blueprint(engine, shard={"bytes": 4000}))


class Indexes:
    """The queues of one run's workers."""

    def __init__(self, mill: Mill) -> None:
        self._mill = mill
        self._tokens = count()

    def queue(self, index: int, *, kind: type[IndexedQueue] = IndexedQueue) -> IndexedQueue:
        ahead = index * 1e6  # no two machines count their seconds from the same moment
        return kind(
            self._mill.run,
            shards=self._mill.plan.shards,
            index=index,
            workers=WORKERS,
            monotonic=lambda: trio.current_time() + ahead,
            token=lambda: f"token-{next(self._tokens)}",
            lease_seconds=LEASE_SECONDS,
            attempts=10_000,
        )


class Unreleased(IndexedQueue):
    """Of a worker that is killed before it can give a lease back."""

    def release(self, lease: Lease, *, spent: bool) -> None:
        pass


def test_three_workers_share_the_work_and_finish_together() -> None:
    async def body() -> None:
        mill = planned(records_per_second=1.0)
        indexes = Indexes(mill)
        engines = [Watched(mill.engine()) for _ in range(WORKERS)]
        async with anyio.create_task_group() as crew:
            for index, engine in enumerate(engines):
                crew.start_soon(partial(mill.work, engine, queue=indexes.queue(index)))
        assert mill.texts() == TEXTS
        assert mill.verify().gaps == []
        assert sum(engine.records for engine in engines) == len(TEXTS)

    assert simulate(body) < 1.15 * len(TEXTS) / WORKERS


def test_the_shards_of_workers_that_never_come_are_done_by_those_that_do() -> None:
    async def body() -> None:
        mill = planned(records_per_second=1.0)
        await mill.work(queue=Indexes(mill).queue(1))
        assert mill.texts() == TEXTS
        assert mill.verify().gaps == []

    simulate(body)


@pytest.mark.parametrize("seed", range(5))
def test_workers_killed_and_started_again_lose_nothing_and_do_nothing_twice_but_a_part(
    seed: int,
) -> None:
    moments = random.Random(seed)

    async def body() -> None:
        mill = planned(records_per_second=1.0)
        indexes, part = Indexes(mill), mill.spec.blueprint.part.records
        kills = inferred = 0

        async def keep(index: int) -> None:
            nonlocal kills, inferred
            ended = False
            while not ended:
                engine = Watched(mill.engine())
                with anyio.move_on_after(moments.uniform(20, 200)):
                    queue = indexes.queue(index, kind=Unreleased)
                    await mill.work(engine, queue=queue, host=Host(mill.clock, inline))
                    ended = True
                kills += not ended
                inferred += engine.records
                await trio.sleep(moments.uniform(0, 30))

        async with anyio.create_task_group() as crew:
            for index in range(WORKERS):
                crew.start_soon(keep, index)
        assert kills
        assert mill.texts() == TEXTS
        assert mill.verify().gaps == []
        # One part in the engine and one on its way out of it.
        assert inferred <= len(TEXTS) + 2 * kills * part

    simulate(body)
