"""A store that only lists: objects that nobody has to write."""

from collections.abc import Iterator
from pathlib import Path

from gristmill.contract.errors import ObjectMissingError
from gristmill.store.protocol import ObjectInfo


class SyntheticListing:
    """So many objects of one size. Reading one is refused: planning must not."""

    def __init__(self, count: int, size: int) -> None:
        self._count = count
        self._size = size

    @property
    def uri(self) -> str:
        return "synthetic://listing"

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        for index in range(self._count):
            key = f"day={index % 30:02d}/file-{index:08d}.jsonl"
            if key.startswith(prefix):
                yield ObjectInfo(key, self._size, f'"{index:032x}"')

    def head(self, key: str) -> ObjectInfo:
        raise ObjectMissingError(key)

    def get(self, key: str) -> bytes:
        raise AssertionError(f"planning read {key}")

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        raise AssertionError(f"planning read {key} [{start}, {stop}) at {etag}")

    def put(self, key: str, body: bytes) -> None:
        raise AssertionError(f"planning wrote {key} ({len(body)} bytes)")

    def put_new(self, key: str, body: bytes) -> bool:
        raise AssertionError(f"planning wrote {key} ({len(body)} bytes)")

    def put_file(self, key: str, path: Path) -> None:
        raise AssertionError(f"planning wrote {key} from {path}")
