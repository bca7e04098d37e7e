"""Leases under trio's virtual clock."""

import contextlib
from collections.abc import Awaitable, Callable

import anyio
import pytest
import trio

from gristmill.contract.errors import StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease
from gristmill.runtime.host import Host
from gristmill.runtime.leases import Leases
from tests.doubles.memory_queue import MemoryQueue
from tests.doubles.mill import inline
from tests.doubles.trio_clock import TrioClock, simulate


def with_leases(
    body: Callable[[Leases, MemoryQueue], Awaitable[None]],
    make: type[MemoryQueue] = MemoryQueue,
) -> None:
    async def run() -> None:
        clock, tokens = TrioClock(), iter(range(100))
        queue = make(now=clock.now, token=lambda: str(next(tokens)), lease_seconds=60)
        queue.fill(map(Ticket, [0, 1]))
        leases = Leases(queue, Host(clock, inline))
        async with leases.kept():
            await body(leases, queue)
        assert queue.lease() is not None or queue.outstanding() == 0

    simulate(run)


def test_a_held_lease_outlives_many_lifetimes() -> None:
    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        await trio.sleep(3600)
        assert leases.holds(Ticket(0))
        other = queue.lease()
        assert other is not None
        assert other.ticket.shard == 1

    with_leases(body)


def test_a_lost_lease_is_no_longer_held() -> None:
    class Lossy(MemoryQueue):
        def extend(self, lease: Lease) -> None:
            self.release(lease, spent=True)
            super().extend(lease)

    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        assert leases.holds(Ticket(0))
        await trio.sleep(21)
        assert not leases.holds(Ticket(0))

    with_leases(body, Lossy)


def test_what_is_published_leaves_the_queue_though_the_lease_was_lost() -> None:
    class Lossy(MemoryQueue):
        def extend(self, lease: Lease) -> None:
            self.release(lease, spent=True)
            super().extend(lease)

    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        await trio.sleep(21)
        assert not leases.holds(Ticket(0))
        await leases.complete(Ticket(0))
        assert queue.outstanding() == 1

    with_leases(body, Lossy)


def test_what_is_left_is_given_back_at_the_end_even_when_cancelled() -> None:
    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        await leases.take()
        assert queue.lease() is None

    with_leases(body)


@pytest.mark.parametrize("failed", [True, False])
def test_an_attempt_is_spent_by_a_failure_and_not_by_a_stop(failed: bool) -> None:
    class Noted(MemoryQueue):
        def release(self, lease: Lease, *, spent: bool) -> None:
            told.append(spent)
            super().release(lease, spent=spent)

    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        if failed:
            raise StorageError("gone")

    told: list[bool] = []
    with contextlib.suppress(BaseExceptionGroup):
        with_leases(body, Noted)
    assert told == [failed]


def test_a_lease_that_can_not_be_given_back_hides_no_error() -> None:
    class Broken(MemoryQueue):
        def release(self, lease: Lease, *, spent: bool) -> None:
            raise StorageError("queue gone")

    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        raise StorageError("disk full")

    with pytest.raises(BaseExceptionGroup) as ended:
        with_leases(body, Broken)
    assert ended.group_contains(StorageError, match="disk full", depth=1)
    assert not ended.group_contains(StorageError, match="queue gone")


def test_completed_shards_are_nobodys_work() -> None:
    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        assert await leases.others_work()
        await leases.take()
        assert not await leases.others_work()
        await leases.complete(Ticket(0))
        await leases.complete(Ticket(1))
        assert not await leases.others_work()

    with_leases(body)


def test_a_heartbeat_that_storage_refuses_ends_the_work() -> None:
    class Broken(MemoryQueue):
        def extend(self, lease: Lease) -> None:
            raise StorageError("queue gone")

    async def body(leases: Leases, queue: MemoryQueue) -> None:
        await leases.take()
        await anyio.sleep_forever()

    with pytest.raises(BaseExceptionGroup) as ended:
        with_leases(body, Broken)
    assert ended.group_contains(StorageError, match="queue gone")
