"""WorkQueue: leases on tickets. It may forget or repeat; truth is in the manifests."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from gristmill.contract.ticket import Ticket


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a ticket until it expires."""

    ticket: Ticket
    token: str
    """Names this very lease; a later lease on the same ticket has another."""
    receives: int
    """How often the ticket was leased and not given back, this time included."""


class Tell(Protocol):
    """Hears what a queue met that people should know of."""

    def __call__(self, event: str, **fields: Any) -> None: ...


def silent(event: str, **fields: Any) -> None:
    """A Tell to nobody."""


class LeaseLostError(Exception):
    """The lease expired and another worker may have it."""


class WorkQueue(Protocol):
    """Every method blocks; the runtime calls them from worker threads. May raise StorageError."""

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts unless extended."""
        ...

    @property
    def quiet_seconds(self) -> float:
        """How long `outstanding` must have been 0 before it is believed: queues that count
        approximately lag behind. 0 where the count is exact."""
        ...

    def fill(self, tickets: Iterable[Ticket]) -> None:
        """These are to be done. One that was completed or given up is opened again, with all its
        attempts: the caller knows from the manifests that it is not done. One that is there
        already stays one where the queue can tell; where it can't, twice is harmless."""
        ...

    def lease(self) -> Lease | None:
        """A ticket to work on. None: nothing free now, though others may still hold leases."""
        ...

    def extend(self, lease: Lease) -> None:
        """Hold it `lease_seconds` from now. Raises LeaseLostError."""
        ...

    def release(self, lease: Lease, *, spent: bool) -> None:
        """Give it back unfinished, at once free for others. `spent`: the attempt counts, as it
        failed; a reclaim's doesn't. Harmless when lost."""
        ...

    def complete(self, lease: Lease) -> None:
        """Done for good. Harmless when lost: what it asked for is published already."""
        ...

    def progressed(self, lease: Lease) -> None:
        """Something of it was published: a ticket that gets further is not given up, where the
        queue can be told so. Harmless when lost."""
        ...

    def outstanding(self) -> int:
        """Tickets neither completed nor given up, leased ones included. 0: the work is over."""
        ...

    def hungry(self) -> bool:
        """Whether workers may be waiting with nothing to take, so that dividing a ticket helps."""
        ...

    def given_up(self) -> Lease | None:
        """A ticket whose every attempt was spent, leased to the asker: whoever records it then
        completes it. None: there is none that nobody else looks at. It may become known only
        after the next `lease`."""
        ...
