"""A queue's spec, as a worker is handed it -> the queue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gristmill.contract.errors import ConfigError
from gristmill.queue.claims import ClaimStore
from gristmill.queue.index import worker_count, worker_index
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.local import LocalQueue
from gristmill.queue.owner import owner_alive, this_owner
from gristmill.queue.protocol import WorkQueue


@dataclass(frozen=True, slots=True)
class QueueRun:
    """What a queue without a service of its own needs to know of the run."""

    store: ClaimStore
    """The run directory."""
    shards: int
    """As many as the plan has."""
    monotonic: Callable[[], float]
    env: Mapping[str, str]
    """Says which of the workers this is."""


def open_queue(
    spec: str,
    *,
    now: Callable[[], float],
    token: Callable[[], str],
    attempts: int,
    lease_seconds: float = 60,
    run: QueueRun | None = None,
) -> WorkQueue:
    """`local:<path of the SQLite file>`, or `indexed:<number of workers>`, which needs `run`.

    `token` makes up names that never repeat; a ticket leased `attempts` times in vain is given up.

    Raises ConfigError for another kind, and StorageError for a file that can't be used.
    """
    kind, _, rest = spec.partition(":")
    if kind == "indexed" and run is not None:
        workers = worker_count(rest)
        return IndexedQueue(
            run.store,
            shards=run.shards,
            index=worker_index(run.env, workers),
            workers=workers,
            monotonic=run.monotonic,
            token=token,
            lease_seconds=lease_seconds,
            attempts=attempts,
        )
    if kind != "local" or not rest:
        raise ConfigError(
            f"queue {spec!r} is not known; write local:<path of a file>, or for the workers of "
            f"an indexed job indexed:<number of workers>"
        )
    return LocalQueue(
        Path(rest),
        now=now,
        token=token,
        owner=this_owner(),
        alive=owner_alive,
        lease_seconds=lease_seconds,
        attempts=attempts,
    )
