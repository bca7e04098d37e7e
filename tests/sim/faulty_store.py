"""One worker's door to a store that fails, forgets answers and remembers what was written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gristmill.contract import layout
from gristmill.contract.errors import StorageError
from gristmill.store.protocol import ObjectInfo
from tests.doubles.memory_store import MemoryStore
from tests.sim.life import Life

T = TypeVar("T")


@dataclass
class Faults:
    """Chances, 0 to 1, of a call. They end with the world's troubles."""

    refused: float = 0.0
    """503: nothing was done."""
    unanswered: float = 0.0
    """It was done, and the answer was lost for good."""
    repeated: float = 0.0
    """It was done, the answer was lost, and the client's own retry did it again."""


@dataclass
class Ledger:
    """What must never be written over: manifests, and data that they may name."""

    bodies: dict[str, bytes] = field(default_factory=dict)
    overwritten: list[str] = field(default_factory=list)

    def note(self, key: str, body: bytes) -> None:
        if not _fixed(key):
            return
        if self.bodies.setdefault(key, body) != body:
            self.overwritten.append(key)


def _fixed(key: str) -> bool:
    is_manifest = layout.part_of_manifest(key) is not None
    return is_manifest or layout.shard_of_manifest(key) is not None or "/data/" in key


class FaultyStore:
    """An ObjectStore over the one that all workers share."""

    def __init__(self, store: MemoryStore, life: Life, faults: Faults, ledger: Ledger) -> None:
        self._store = store
        self._life = life
        self._faults = faults
        self._ledger = ledger

    @property
    def uri(self) -> str:
        return self._store.uri

    def get(self, key: str) -> bytes:
        return self._call(lambda: self._store.get(key))

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        return self._call(lambda: self._store.get_range(key, start, stop, etag=etag))

    def put(self, key: str, body: bytes) -> None:
        self._call(lambda: self._write(key, body))

    def put_new(self, key: str, body: bytes) -> bool:
        return self._call(lambda: self._create(key, body))

    def put_file(self, key: str, path: Path) -> None:
        self._call(lambda: self._write(key, path.read_bytes()))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return iter(self._call(lambda: list(self._store.list(prefix))))

    def head(self, key: str) -> ObjectInfo:
        return self._call(lambda: self._store.head(key))

    def _write(self, key: str, body: bytes) -> None:
        self._store.put(key, body)
        self._ledger.note(key, body)

    def _create(self, key: str, body: bytes) -> bool:
        made = self._store.put_new(key, body)
        self._ledger.note(key, self._store.get(key))
        return made

    def _call(self, call: Callable[[], T]) -> T:
        self._life.check()
        draw = self._life.chance.random()
        faults = self._faults
        if draw < faults.refused:
            raise StorageError(f"{self.uri}: 503 SlowDown")
        result = call()
        if draw > 1 - faults.unanswered:
            raise StorageError(f"{self.uri}: the answer was lost")
        if draw > 1 - faults.unanswered - faults.repeated:
            return call()
        return result
