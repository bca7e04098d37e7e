"""WorkQueue: leases on shards. It may forget or repeat; truth is in the manifests."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a shard until it expires."""

    shard: int
    token: str
    """Names this very lease; a later lease on the same shard has another."""
    receives: int
    """How often the shard was leased, this time included."""


class LeaseLostError(Exception):
    """The lease expired and another worker may have it."""


class WorkQueue(Protocol):
    """Every method blocks; the runtime calls them from worker threads. May raise StorageError."""

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts unless extended."""
        ...

    def fill(self, shards: Iterable[int]) -> None:
        """These shards are to be done. Twice is once; one that was completed is opened again: the
        caller knows from the manifests that it is not done."""
        ...

    def lease(self) -> Lease | None:
        """A shard to work on. None: nothing free now, though others may still hold leases."""
        ...

    def extend(self, lease: Lease) -> None:
        """Hold it `lease_seconds` from now. Raises LeaseLostError."""
        ...

    def release(self, lease: Lease) -> None:
        """Give it back unfinished, at once free for others. Harmless when lost."""
        ...

    def complete(self, lease: Lease) -> None:
        """Done for good. Harmless when lost: the shard's manifest is published already."""
        ...

    def outstanding(self) -> int:
        """Shards not completed, leased ones included. 0: the work is over."""
        ...
