"""What is published of a run, read from its manifests."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import BaseModel

from gristmill.contract import layout
from gristmill.contract.canonical import decode
from gristmill.contract.errors import ObjectMissingError
from gristmill.contract.manifest import (
    AttemptReport,
    Counts,
    PartManifest,
    RunManifest,
    ShardFailure,
    ShardManifest,
)
from gristmill.runtime.control import cancelled
from gristmill.store.protocol import ObjectStore

READS_AT_ONCE: Final = 16

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class RunState:
    """One look at a run. Shards that are finished stand for their parts."""

    shards: dict[int, ShardManifest]
    parts: dict[tuple[int, int], PartManifest]
    """Of shards not finished."""
    attempts: tuple[AttemptReport, ...]
    manifest: RunManifest | None
    cancelled: bool = False
    failures: tuple[ShardFailure, ...] = ()
    """Tickets of unfinished shards that were given up, at any time of the run."""

    @property
    def counts(self) -> Counts:
        finished = (shard.counts for shard in self.shards.values())
        return Counts.total([*finished, *(part.counts for part in self.parts.values())])

    @property
    def engine_seconds(self) -> float:
        finished = sum(shard.engine_seconds for shard in self.shards.values())
        return finished + sum(part.engine_seconds for part in self.parts.values())


def read_state(run: ObjectStore) -> RunState:
    """List once, then read one manifest for each finished shard and each part of the others."""
    keys = [info.key for info in run.list(layout.SHARDS)]
    # Keys are in order, and of two generations the last one holds.
    finished = {shard: key for key in keys if (shard := layout.shard_of_manifest(key)) is not None}
    open_parts = [
        key
        for key in keys
        if (found := layout.part_of_manifest(key)) is not None and found[0] not in finished
    ]
    read = _reader(run)
    shards = read(ShardManifest, finished.values())
    parts = read(PartManifest, open_parts)
    attempts = read(AttemptReport, [info.key for info in run.list(layout.ATTEMPTS)])
    return RunState(
        shards={manifest.shard: manifest for manifest in shards},
        parts={(manifest.shard, manifest.part): manifest for manifest in parts},
        attempts=tuple(sorted(attempts, key=lambda attempt: attempt.started_at)),
        manifest=run_manifest(run),
        cancelled=cancelled(run),
        failures=tuple(
            failure
            for failure in read(ShardFailure, [info.key for info in run.list(layout.FAILURES)])
            if failure.shard not in finished
        ),
    )


def run_manifest(run: ObjectStore) -> RunManifest | None:
    """The one that holds; None: the run is not finished."""
    key = manifest_key(run)
    try:
        return decode(RunManifest, run.get(key), f"{run.uri}/{key}")
    except ObjectMissingError:
        return None


def manifest_key(run: ObjectStore) -> str:
    """Where the RunManifest is that holds, or will be."""
    *_, last = [layout.MANIFEST, *(info.key for info in run.list(layout.RETRIES))]
    return last


def _reader(run: ObjectStore) -> Callable[[type[M], Iterable[str]], list[M]]:
    def read(model: type[M], keys: Iterable[str]) -> list[M]:
        with ThreadPoolExecutor(READS_AT_ONCE, thread_name_prefix="manifests") as pool:
            return list(pool.map(lambda key: decode(model, run.get(key), f"{run.uri}/{key}"), keys))

    return read
