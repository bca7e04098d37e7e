"""The leases a worker holds, and the heartbeat that keeps them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio

from gristmill.contract.errors import StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, LeaseLostError, WorkQueue
from gristmill.runtime.host import Host

BEATS_PER_LEASE = 3
"""A lease is extended at a third of its life, so that one late beat does not lose it."""


class Leases:
    """Leases on the tickets in this worker's hands: usually one ticket, two around the end of one,
    and one lease on each; more where a queue delivers twice."""

    def __init__(self, queue: WorkQueue, host: Host) -> None:
        self._queue = queue
        self._host = host
        self._held: dict[Ticket, list[Lease]] = {}
        self._lost: dict[Ticket, list[Lease]] = {}
        self._got_further: set[Ticket] = set()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Extends what is held for as long as the block runs; then gives back what is left: an
        attempt is spent when the block failed, and none when it was told to stop."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._beat)
            failed = True
            try:
                yield
                failed = False
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await self._release_all(spent=failed)

    async def take(self) -> Lease | None:
        """A lease on a ticket; None when nothing is free now."""
        lease = await self._host.offload(self._queue.lease)
        if lease is not None:
            self._held.setdefault(lease.ticket, []).append(lease)
        return lease

    def holds(self, ticket: Ticket) -> bool:
        """False once the lease was lost to another worker."""
        return ticket in self._held

    async def complete(self, ticket: Ticket) -> None:
        """What it asked for is published: it leaves the queue, though the lease may be lost, so
        that nobody takes it up again to find that out."""
        for lease in [*self._held.pop(ticket, ()), *self._lost.pop(ticket, ())]:
            await self._host.offload(self._queue.complete, lease)

    async def progressed(self, ticket: Ticket) -> None:
        """Something of it was published. Told once, and only of one that failed before."""
        leases = self._held.get(ticket, ())
        if ticket in self._got_further or all(lease.receives == 1 for lease in leases):
            return
        self._got_further.add(ticket)
        for lease in leases:
            await self._host.offload(self._queue.progressed, lease)

    async def others_work(self) -> bool:
        """Whether tickets are open that are not in these hands."""
        return await self._host.offload(self._queue.outstanding) > len(self._held)

    async def _beat(self) -> None:
        while True:
            await self._host.clock.sleep(self._queue.lease_seconds / BEATS_PER_LEASE)
            for lease in [lease for leases in self._held.values() for lease in leases]:
                try:
                    await self._host.offload(self._queue.extend, lease)
                except LeaseLostError:
                    self._lose(lease)

    def _lose(self, lease: Lease) -> None:
        self._lost.setdefault(lease.ticket, []).append(lease)
        left = [other for other in self._held.get(lease.ticket, ()) if other != lease]
        if left:
            self._held[lease.ticket] = left
        else:
            self._held.pop(lease.ticket, None)

    async def _release_all(self, *, spent: bool) -> None:
        for lease in [lease for leases in self._held.values() for lease in leases]:
            # A lease that can't be given back runs out by itself; the error that ended the work
            # must not be hidden behind this one.
            with suppress(StorageError):
                await self._host.offload(partial(self._queue.release, lease, spent=spent))
        self._held.clear()
