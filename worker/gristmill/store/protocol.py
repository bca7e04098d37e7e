"""ObjectStore: the least that the core asks of storage."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One listed object."""

    key: str
    size: int
    """Bytes."""
    etag: str


class ObjectStore(Protocol):
    """Objects under one root. Keys are relative, unescaped, with `/` between folders.

    Every method blocks; the runtime calls them from worker threads. All may raise StorageError
    (unreachable, full) and PermissionRefusedError, in words that name the URI.
    """

    @property
    def uri(self) -> str:
        """The root, without a slash at its end."""
        ...

    def get(self, key: str) -> bytes:
        """The whole object. Raises ObjectMissingError."""
        ...

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        """Bytes [start, stop), fewer at the object's end.

        Raises ObjectChangedError when `etag` is given and is no longer the object's, and
        ObjectMissingError.
        """
        ...

    def put(self, key: str, body: bytes) -> None:
        """Write or write over; readers see the old or the new, never a mixture."""
        ...

    def put_new(self, key: str, body: bytes) -> bool:
        """Write unless it exists, atomically. True: written by this call. False: it was there."""
        ...

    def put_file(self, key: str, path: Path) -> None:
        """Write or write over from a local file, streamed, and atomically for readers."""
        ...

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """Every object whose key starts with `prefix` (ending in `/`, or empty), in key order.

        Nothing under a prefix that isn't there. Raises ObjectMissingError for a missing bucket.
        """
        ...

    def head(self, key: str) -> ObjectInfo:
        """Size and etag. Raises ObjectMissingError."""
        ...
