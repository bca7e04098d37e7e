"""A queue's spec, as a worker is handed it -> the queue."""

from collections.abc import Callable
from pathlib import Path

from gristmill.contract.errors import ConfigError
from gristmill.queue.local import LocalQueue
from gristmill.queue.owner import owner_alive, this_owner
from gristmill.queue.protocol import Tell, WorkQueue, silent


def open_queue(
    spec: str,
    *,
    now: Callable[[], float],
    token: Callable[[], str],
    attempts: int,
    lease_seconds: float = 60,
    run: str = "",
    tell: Tell = silent,
    quiet_seconds: float | None = None,
) -> WorkQueue:
    """`local:<path of the SQLite file>`. `token` makes up names that never repeat;
    a ticket leased `attempts` times in vain is given up.

    `sqs:<URL>`, which takes the time of a lease and the attempts from the queue itself, and needs
    the URI of the `run`, since other runs may use it too. `quiet_seconds`: see the protocol.

    Raises ConfigError for another kind, and StorageError for a file or queue that can't be used.
    """
    kind, _, place = spec.partition(":")
    match kind if place else "":
        case "local":
            return LocalQueue(
                Path(place),
                now=now,
                token=token,
                owner=this_owner(),
                alive=owner_alive,
                lease_seconds=lease_seconds,
                attempts=attempts,
            )
        case "sqs":
            return _open_sqs(place, run, now, tell, quiet_seconds)
    raise ConfigError(
        f"queue {spec!r} is not known; write local:<path of a file> or sqs:<URL of a queue>"
    )


def _open_sqs(
    url: str, run: str, now: Callable[[], float], tell: Tell, quiet_seconds: float | None
) -> WorkQueue:
    if not run:
        raise ValueError("tickets in SQS name their run")
    try:
        from gristmill.queue.sqs import QUIET_SECONDS, open_sqs
    except ModuleNotFoundError as missing:
        raise ConfigError(
            f"sqs:{url}: {missing.name} is not installed; install gristmill[aws]"
        ) from missing
    quiet = QUIET_SECONDS if quiet_seconds is None else quiet_seconds
    return open_sqs(url, run=run, now=now, tell=tell, quiet_seconds=quiet)
