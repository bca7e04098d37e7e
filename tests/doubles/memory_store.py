"""MemoryStore: an ObjectStore in a dict, with faults on request."""

from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from threading import RLock

from gristmill.contract.errors import ObjectChangedError, ObjectMissingError
from gristmill.store.key import checked, checked_prefix
from gristmill.store.protocol import ObjectInfo


class MemoryStore:
    def __init__(self, uri: str = "memory://double") -> None:
        self._uri = uri
        self._objects: dict[str, tuple[bytes, str]] = {}
        self._writes = 0
        self._faults: defaultdict[str, deque[tuple[Exception, bool]]] = defaultdict(deque)
        self._lock = RLock()

    def fail_next(self, op: str, error: Exception, *, after: bool = False) -> None:
        """The next call of the method `op` raises; several queue up.

        `after`: once it has done its work, as when an answer is lost on its way.
        """
        self._faults[op].append((error, after))

    def copy(self) -> "MemoryStore":
        """Another store with the same objects."""
        other = MemoryStore(self._uri)
        other._objects = dict(self._objects)
        other._writes = self._writes
        return other

    @property
    def uri(self) -> str:
        return self._uri

    def get(self, key: str) -> bytes:
        with self._lock, _Fault(self._faults["get"]):
            return self._found(key)[0]

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        with self._lock, _Fault(self._faults["get_range"]):
            body, current = self._found(key)
            if etag is not None and etag != current:
                raise ObjectChangedError(f"{self._uri}/{key}: changed")
            return body[start : max(start, stop)]

    def put(self, key: str, body: bytes) -> None:
        with self._lock, _Fault(self._faults["put"]):
            self._write(key, body)

    def put_new(self, key: str, body: bytes) -> bool:
        with self._lock, _Fault(self._faults["put_new"]):
            if checked(key) in self._objects:
                return False
            self._write(key, body)
            return True

    def put_file(self, key: str, path: Path) -> None:
        with self._lock, _Fault(self._faults["put_file"]):
            self._write(key, path.read_bytes())

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        with self._lock, _Fault(self._faults["list"]):
            checked_prefix(prefix)
            keys = sorted(key for key in self._objects if key.startswith(prefix))
            return iter([self.head(key) for key in keys])

    def head(self, key: str) -> ObjectInfo:
        with self._lock, _Fault(self._faults["head"]):
            body, etag = self._found(key)
            return ObjectInfo(key, len(body), etag)

    def _found(self, key: str) -> tuple[bytes, str]:
        if checked(key) not in self._objects:
            raise ObjectMissingError(f"{self._uri}/{key}: there is no such object")
        return self._objects[key]

    def _write(self, key: str, body: bytes) -> None:
        self._writes += 1
        self._objects[checked(key)] = (bytes(body), f"v{self._writes}")


class _Fault:
    """Raises the method's next fault, before or after its work."""

    def __init__(self, faults: deque[tuple[Exception, bool]]) -> None:
        self._fault = faults.popleft() if faults else None

    def __enter__(self) -> None:
        if self._fault is not None and not self._fault[1]:
            raise self._fault[0]

    def __exit__(self, *_: object) -> None:
        if self._fault is not None:
            raise self._fault[0]
