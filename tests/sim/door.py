"""One worker's door to a queue that all share."""

from collections.abc import Iterable

from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, WorkQueue
from tests.sim.faults import Line


class Door:
    """A WorkQueue."""

    def __init__(self, queue: WorkQueue, line: Line) -> None:
        self._queue = queue
        self._line = line

    @property
    def lease_seconds(self) -> float:
        return self._queue.lease_seconds

    @property
    def quiet_seconds(self) -> float:
        return self._queue.quiet_seconds

    def fill(self, tickets: Iterable[Ticket]) -> None:
        self._line.write(lambda: self._queue.fill(tickets))

    def lease(self) -> Lease | None:
        return self._line.write(self._queue.lease)

    def extend(self, lease: Lease) -> None:
        self._line.write(lambda: self._queue.extend(lease))

    def release(self, lease: Lease, *, spent: bool) -> None:
        self._line.write(lambda: self._queue.release(lease, spent=spent))

    def complete(self, lease: Lease) -> None:
        self._line.write(lambda: self._queue.complete(lease))

    def progressed(self, lease: Lease) -> None:
        self._line.write(lambda: self._queue.progressed(lease))

    def outstanding(self) -> int:
        return self._line.read(self._queue.outstanding)

    def hungry(self) -> bool:
        return self._line.read(self._queue.hungry)

    def given_up(self) -> Lease | None:
        return self._line.write(self._queue.given_up)
