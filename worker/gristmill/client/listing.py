"""The input as it lies there now: which objects are read, which are left out and why."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gristmill.contract.dataset import Input
from gristmill.contract.errors import BadInputError, ObjectMissingError
from gristmill.contract.location import Location, locate
from gristmill.contract.shard import InputObject
from gristmill.store.protocol import ObjectInfo, ObjectStore

HIDDEN: Final = "hidden or marker (a name that starts with . or _)"
EMPTY: Final = "empty (zero bytes)"
OTHER: Final = "other suffix"

_SUFFIXES: Final[dict[str, tuple[str, ...]]] = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "openai": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "files": ("",),
}
"""What a folder's files of a format are called. A glob or a single name takes any name."""
_COMPRESSED: Final = (".gz", ".zst")
_PROGRESS_EVERY: Final = 10_000


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects in key order, and what was left out."""

    objects: tuple[InputObject, ...]
    skipped: dict[str, int]
    digest: str
    """SHA-256 over key, size and etag of each object."""


def list_input(
    store: ObjectStore, source: Input, progress: Callable[[int], None] = lambda _: None
) -> Listing:
    """List what the blueprint's input names. `progress` hears how many objects were seen.

    Raises BadInputError when nothing is left to read, saying what was there instead.
    """
    where = locate(source.uri)
    skipped: Counter[str] = Counter()
    objects: list[InputObject] = []
    hasher = hashlib.sha256()
    for seen, info in enumerate(_candidates(store, where), 1):
        if seen % _PROGRESS_EVERY == 0:
            progress(seen)
        if not where.matches(info.key):
            continue
        if (why := _left_out(info, source, where)) is not None:
            skipped[why] += 1
            continue
        objects.append(InputObject(info.key, info.size, info.etag))
        hasher.update(f"{info.key}\0{info.size}\0{info.etag}\n".encode())
    if not objects:
        raise BadInputError(_nothing(source, skipped))
    return Listing(tuple(objects), dict(sorted(skipped.items())), hasher.hexdigest())


def would_read(source: Input, uri: str) -> bool:
    """Whether an object of this URI, were it there, would be read as input."""
    where = locate(source.uri)
    key = uri.removeprefix(f"{where.root.rstrip('/')}/")
    found = ObjectInfo(key, 1, "")
    return key != uri and where.matches(key) and _left_out(found, source, where) is None


def changes(before: dict[str, InputObject], after: dict[str, InputObject]) -> list[str]:
    """Sentences on what differs between two listings, a few names for each kind."""
    added = sorted(after.keys() - before.keys())
    gone = sorted(before.keys() - after.keys())
    other = sorted(
        key
        for key in before.keys() & after.keys()
        if (before[key].size, before[key].etag) != (after[key].size, after[key].etag)
    )
    return [
        f"{len(keys):,} input object{'s' if len(keys) > 1 else ''} {what}: {_few(keys)}"
        for what, keys in (("changed", other), ("added", added), ("gone", gone))
        if keys
    ]


def _candidates(store: ObjectStore, where: Location) -> Iterator[ObjectInfo]:
    """The named object alone where there is one: its neighbours may be millions."""
    if where.names_one:
        try:
            yield store.head(where.prefix)
        except ObjectMissingError:
            yield from store.list(f"{where.prefix}/")
    else:
        yield from store.list(where.prefix)


def _left_out(info: ObjectInfo, source: Input, where: Location) -> str | None:
    if info.size == 0:
        return EMPTY
    if info.key == where.prefix:
        return None
    if any(step.startswith((".", "_")) for step in info.key.split("/")):
        return HIDDEN
    if where.pattern is not None:
        return None
    name = info.key.lower()
    for compressed in _COMPRESSED:
        name = name.removesuffix(compressed)
    return None if name.endswith(_SUFFIXES[source.format.kind]) else OTHER


def _nothing(source: Input, skipped: Counter[str]) -> str:
    if not skipped:
        return (
            f"{source.uri}: matches no object; check the path or the glob (** crosses folders, "
            "* does not)"
        )
    left_out = ", ".join(f"{count:,} {why}" for why, count in skipped.items())
    hint = (
        f" (a folder of {source.format.kind} input takes "
        f"{', '.join(_SUFFIXES[source.format.kind])}, plain or {'/'.join(_COMPRESSED)}; "
        "name other files by a glob)"
        if skipped[OTHER]
        else ""
    )
    return f"{source.uri}: holds nothing to read; left out: {left_out}{hint}"


def _few(keys: list[str]) -> str:
    shown = ", ".join(keys[:3])
    return f"{shown} and {len(keys) - 3:,} more" if len(keys) > 3 else shown
