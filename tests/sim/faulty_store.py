"""One worker's door to the store that all share, and a ledger of what was written there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gristmill.contract import layout
from gristmill.store.protocol import ObjectInfo
from tests.doubles.memory_store import MemoryStore
from tests.sim.faults import Line


@dataclass
class Ledger:
    """What must never change once it is written: manifests, data that they may name, results."""

    bodies: dict[str, bytes] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    def note(self, uri: str, key: str, body: bytes) -> None:
        if _fixed(key) and self.bodies.setdefault(f"{uri}/{key}", body) != body:
            self.changed.append(f"{uri}/{key}")


def _fixed(key: str) -> bool:
    return (
        layout.is_result(key)
        or "/data/" in key
        or key.startswith("rejected/")
        or layout.part_of_manifest(key) is not None
        or layout.shard_of_manifest(key) is not None
    )


class FaultyStore:
    """An ObjectStore."""

    def __init__(self, store: MemoryStore, line: Line, ledger: Ledger) -> None:
        self._store = store
        self._line = line
        self._ledger = ledger

    @property
    def uri(self) -> str:
        return self._store.uri

    def get(self, key: str) -> bytes:
        return self._line.read(lambda: self._store.get(key))

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        return self._line.read(lambda: self._store.get_range(key, start, stop, etag=etag))

    def put(self, key: str, body: bytes) -> None:
        self._line.write(lambda: self._write(key, body))

    def put_new(self, key: str, body: bytes) -> bool:
        return self._line.write(lambda: self._create(key, body))

    def put_file(self, key: str, path: Path) -> None:
        body = path.read_bytes()
        self._line.write(lambda: self._write(key, body))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return iter(self._line.read(lambda: list(self._store.list(prefix))))

    def head(self, key: str) -> ObjectInfo:
        return self._line.read(lambda: self._store.head(key))

    def _write(self, key: str, body: bytes) -> None:
        self._store.put(key, body)
        self._ledger.note(self.uri, key, body)

    def _create(self, key: str, body: bytes) -> bool:
        made = self._store.put_new(key, body)
        self._ledger.note(self.uri, key, self._store.get(key))
        return made
