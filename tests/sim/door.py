"""One worker's door to the queue: closed once it is dead, and sometimes out of order."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from gristmill.contract.errors import StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, WorkQueue
from tests.sim.faulty_store import Faults
from tests.sim.life import Life

T = TypeVar("T")


class Door:
    def __init__(self, queue: WorkQueue, life: Life, faults: Faults) -> None:
        self._queue = queue
        self._life = life
        self._faults = faults

    @property
    def lease_seconds(self) -> float:
        return self._queue.lease_seconds

    @property
    def quiet_seconds(self) -> float:
        return self._queue.quiet_seconds

    def fill(self, tickets: Iterable[Ticket]) -> None:
        self._call(lambda: self._queue.fill(tickets))

    def lease(self) -> Lease | None:
        return self._call(self._queue.lease)

    def extend(self, lease: Lease) -> None:
        self._call(lambda: self._queue.extend(lease))

    def release(self, lease: Lease, *, spent: bool) -> None:
        self._call(lambda: self._queue.release(lease, spent=spent))

    def complete(self, lease: Lease) -> None:
        self._call(lambda: self._queue.complete(lease))

    def progressed(self, lease: Lease) -> None:
        self._call(lambda: self._queue.progressed(lease))

    def outstanding(self) -> int:
        return self._call(self._queue.outstanding)

    def hungry(self) -> bool:
        return self._call(self._queue.hungry)

    def given_up(self) -> Lease | None:
        return self._call(self._queue.given_up)

    def _call(self, call: Callable[[], T]) -> T:
        self._life.check()
        draw = self._life.chance.random()
        if draw < self._faults.refused:
            raise StorageError("queue: 503")
        result = call()
        if draw > 1 - self._faults.unanswered:
            raise StorageError("queue: the answer was lost")
        return result
