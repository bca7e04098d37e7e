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
    """Leases on the tickets in this worker's hands: usually one, two around the end of one."""

    def __init__(self, queue: WorkQueue, host: Host) -> None:
        self._queue = queue
        self._host = host
        self._held: dict[Ticket, Lease] = {}
        self._got_further: set[Lease] = set()

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
            self._held[lease.ticket] = lease
        return lease

    def holds(self, ticket: Ticket) -> bool:
        """False once the lease was lost to another worker."""
        return ticket in self._held

    async def complete(self, ticket: Ticket) -> None:
        """What it asked for is published: it leaves the queue."""
        if (lease := self._held.pop(ticket, None)) is not None:
            await self._host.offload(self._queue.complete, lease)

    async def progressed(self, ticket: Ticket) -> None:
        """Something of it was published. Told once, and only of one that failed before."""
        lease = self._held.get(ticket)
        if lease is not None and lease.receives > 1 and lease not in self._got_further:
            self._got_further.add(lease)
            await self._host.offload(self._queue.progressed, lease)

    async def others_work(self) -> bool:
        """Whether tickets are open that are not in these hands."""
        return await self._host.offload(self._queue.outstanding) > len(self._held)

    async def _beat(self) -> None:
        while True:
            await self._host.clock.sleep(self._queue.lease_seconds / BEATS_PER_LEASE)
            for ticket, lease in list(self._held.items()):
                try:
                    await self._host.offload(self._queue.extend, lease)
                except LeaseLostError:
                    self._held.pop(ticket, None)

    async def _release_all(self, *, spent: bool) -> None:
        for lease in self._held.values():
            # A lease that can't be given back runs out by itself; the error that ended the work
            # must not be hidden behind this one.
            with suppress(StorageError):
                await self._host.offload(partial(self._queue.release, lease, spent=spent))
        self._held.clear()
