"""A queue's spec, as a worker is handed it -> the queue."""

from collections.abc import Callable
from pathlib import Path

from gristmill.contract.errors import ConfigError
from gristmill.queue.local import LocalQueue
from gristmill.queue.owner import owner_alive, this_owner
from gristmill.queue.protocol import WorkQueue


def open_queue(
    spec: str,
    *,
    now: Callable[[], float],
    token: Callable[[], str],
    attempts: int,
    lease_seconds: float = 60,
) -> WorkQueue:
    """`local:<path of the SQLite file>`. `token` makes up names that never repeat;
    a ticket leased `attempts` times in vain is given up.

    Raises ConfigError for another kind, and StorageError for a file that can't be used.
    """
    kind, _, path = spec.partition(":")
    if kind != "local" or not path:
        raise ConfigError(f"queue {spec!r} is not known; write local:<path of a file>")
    return LocalQueue(
        Path(path),
        now=now,
        token=token,
        owner=this_owner(),
        alive=owner_alive,
        lease_seconds=lease_seconds,
        attempts=attempts,
    )
