"""A queue's spec, as a worker is handed it -> the queue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gristmill.contract.errors import ConfigError
from gristmill.queue.claims import ClaimStore
from gristmill.queue.index import worker_count, worker_index
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.local import LocalQueue
from gristmill.queue.owner import owner_alive, this_owner
from gristmill.queue.protocol import Tell, WorkQueue, silent


class RunStore(ClaimStore, Protocol):
    @property
    def uri(self) -> str: ...


@dataclass(frozen=True, slots=True)
class QueueRun:
    """What queues that serve more than one run, or have no service of their own, need to know."""

    store: RunStore
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
    tell: Tell = silent,
    quiet_seconds: float | None = None,
) -> WorkQueue:
    """`local:<path of the SQLite file>`, or `sqs:<URL of the queue>` or
    `indexed:<number of workers>`, which need `run`.

    `token` makes up names that never repeat; a ticket leased `attempts` times in vain is given up.
    A queue in SQS says itself how often that is, and how long a lease lasts.

    Raises ConfigError for another kind, and StorageError for a file or queue that can't be used.
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
    if kind == "sqs" and rest and run is not None:
        return _open_sqs(rest, run.store.uri, now, tell, quiet_seconds)
    if kind != "local" or not rest:
        raise ConfigError(
            f"queue {spec!r} is not known; write local:<path of a file>, sqs:<URL of a queue>, or "
            f"for the workers of an indexed job indexed:<number of workers>"
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


def _open_sqs(
    url: str, run: str, now: Callable[[], float], tell: Tell, quiet_seconds: float | None
) -> WorkQueue:
    try:
        from gristmill.queue.sqs import QUIET_SECONDS, open_sqs
    except ModuleNotFoundError as missing:
        raise ConfigError(
            f"sqs:{url}: {missing.name} is not installed; install gristmill[aws]"
        ) from missing
    quiet = QUIET_SECONDS if quiet_seconds is None else quiet_seconds
    return open_sqs(url, run=run, now=now, tell=tell, quiet_seconds=quiet)
