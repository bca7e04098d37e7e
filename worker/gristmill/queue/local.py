"""LocalQueue: leases in one SQLite file, shared by the processes of a host."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from gristmill.contract.errors import PermissionRefusedError, StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, LeaseLostError

_PATIENCE: Final = 30.0
"""Seconds to wait for other processes' turns at the file; each takes milliseconds."""

_SCHEMA: Final = (
    """
    CREATE TABLE IF NOT EXISTS tickets (
        shard INTEGER NOT NULL,
        part INTEGER NOT NULL,
        ticket TEXT NOT NULL,
        done INTEGER NOT NULL DEFAULT 0,
        receives INTEGER NOT NULL DEFAULT 0,
        token TEXT,
        owner TEXT,
        expires REAL,
        PRIMARY KEY (shard, part)
    ) WITHOUT ROWID
    """,
    "CREATE TABLE IF NOT EXISTS waiting (owner TEXT PRIMARY KEY, until REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS open ON tickets (shard, part) WHERE done = 0",
    "CREATE INDEX IF NOT EXISTS free ON tickets (shard, part) WHERE done = 0 AND token IS NULL",
    "CREATE INDEX IF NOT EXISTS held ON tickets (owner, expires) WHERE token IS NOT NULL",
)
_FILL: Final = """
    INSERT INTO tickets (shard, part, ticket) VALUES (?, ?, ?)
    ON CONFLICT (shard, part) DO UPDATE SET done = 0, receives = 0
    WHERE done = 1 OR (token IS NULL AND receives >= ?)
"""
_FIRST: Final = "SELECT shard, part, ticket FROM tickets WHERE done = 0 AND token IS NULL AND"
_FREE: Final = f"{_FIRST} receives < ? ORDER BY shard, part LIMIT 1"
_SPENT: Final = f"{_FIRST} receives >= ? ORDER BY shard, part LIMIT 1"
_TAKE: Final = """
    UPDATE tickets SET receives = receives + 1, token = ?, owner = ?, expires = ?
    WHERE shard = ? AND part = ? RETURNING receives
"""
_EXTEND: Final = "UPDATE tickets SET expires = ? WHERE shard = ? AND part = ? AND token = ?"
_HOLDERS: Final = "SELECT DISTINCT owner FROM tickets WHERE token IS NOT NULL"
_LOSE: Final = "UPDATE tickets SET token = NULL, owner = NULL, expires = NULL"
_EXPIRE: Final = f"{_LOSE} WHERE token IS NOT NULL AND expires <= ?"
_BURY: Final = f"{_LOSE} WHERE token IS NOT NULL AND owner = ?"
_RELEASE: Final = (
    f"{_LOSE}, receives = max(0, receives - ?) WHERE shard = ? AND part = ? AND token = ?"
)
_COMPLETE: Final = f"{_LOSE}, done = 1 WHERE shard = ? AND part = ?"
_PROGRESS: Final = "UPDATE tickets SET receives = 0 WHERE shard = ? AND part = ? AND token = ?"
_OUTSTANDING: Final = """
    SELECT count(*) FROM tickets WHERE done = 0 AND (token IS NOT NULL OR receives < ?)
"""
_WAIT: Final = "INSERT OR REPLACE INTO waiting VALUES (?, ?)"
_SERVED: Final = "DELETE FROM waiting WHERE owner = ?"
_WAITING: Final = "SELECT 1 FROM waiting WHERE until > ? AND owner != ? LIMIT 1"
_WAIT_SECONDS: Final = 5.0
"""How long a worker counts as waiting after it asked in vain; it asks again sooner."""


class LocalQueue:
    """A WorkQueue. The file is no more than a convenience: deleted, it is filled again.

    `alive` says whether the process that holds a lease still runs: the leases of a dead one are
    free at once. Each call opens the file anew, so any thread and any process may call.
    """

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], float],
        token: Callable[[], str],
        owner: str,
        alive: Callable[[str], bool],
        lease_seconds: float,
        attempts: int,
    ) -> None:
        self._path = path
        self._now = now
        self._token = token
        self._owner = owner
        self._alive = alive
        self._lease_seconds = lease_seconds
        self._attempts = attempts
        self._make()

    @property
    def lease_seconds(self) -> float:
        return self._lease_seconds

    @property
    def quiet_seconds(self) -> float:
        return 0.0

    def fill(self, tickets: Iterable[Ticket]) -> None:
        with self._turn() as file:
            file.executemany(_FILL, ((*t.order, t.encode(), self._attempts) for t in tickets))

    def lease(self) -> Lease | None:
        with self._turn() as file:
            self._free_lost(file)
            lease = self._take(file, _FREE)
            if lease is None:
                file.execute(_WAIT, (self._owner, self._now() + _WAIT_SECONDS))
            else:
                file.execute(_SERVED, (self._owner,))
        return lease

    def extend(self, lease: Lease) -> None:
        with self._turn() as file:
            expires = self._now() + self._lease_seconds
            held = file.execute(_EXTEND, (expires, *lease.ticket.order, lease.token))
            if held.rowcount == 0:
                raise LeaseLostError(f"the lease on {lease.ticket.encode()} expired and was lost")

    def release(self, lease: Lease, *, spent: bool) -> None:
        with self._turn() as file:
            file.execute(_RELEASE, (0 if spent else 1, *lease.ticket.order, lease.token))

    def complete(self, lease: Lease) -> None:
        # Whoever holds it now: what it asks for is published, so nobody need work on it.
        with self._turn() as file:
            file.execute(_COMPLETE, lease.ticket.order)

    def progressed(self, lease: Lease) -> None:
        with self._turn() as file:
            file.execute(_PROGRESS, (*lease.ticket.order, lease.token))

    def outstanding(self) -> int:
        with self._turn() as file:
            (count,) = file.execute(_OUTSTANDING, (self._attempts,)).fetchone()
        return int(count)

    def hungry(self) -> bool:
        with self._turn() as file:
            return file.execute(_WAITING, (self._now(), self._owner)).fetchone() is not None

    def given_up(self) -> Lease | None:
        with self._turn() as file:
            self._free_lost(file)
            return self._take(file, _SPENT)

    def _take(self, file: sqlite3.Connection, which: str) -> Lease | None:
        found = file.execute(which, (self._attempts,)).fetchone()
        if found is None:
            return None
        shard, part, ticket = found
        token, expires = self._token(), self._now() + self._lease_seconds
        taken = file.execute(_TAKE, (token, self._owner, expires, shard, part)).fetchone()
        return Lease(ticket=Ticket.decode(ticket), token=token, receives=taken[0])

    def _free_lost(self, file: sqlite3.Connection) -> None:
        """Free the leases that expired, and those of processes that died."""
        file.execute(_EXPIRE, (self._now(),))
        holders = [holder for (holder,) in file.execute(_HOLDERS) if holder != self._owner]
        file.executemany(_BURY, ((holder,) for holder in holders if not self._alive(holder)))

    def _make(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"{self._path}: can't make the folder of the work queue ({error.strerror})"
            ) from error
        with self._turn(mode="rwc") as file:
            for statement in _SCHEMA:
                file.execute(statement)

    @contextmanager
    def _turn(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """The file to oneself for one transaction. In mode `rw` a deleted file stays deleted: an
        empty new one would look like work that is over."""
        uri = f"{self._path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
            ) as file:
                file.execute("BEGIN IMMEDIATE")
                try:
                    yield file
                except BaseException:
                    file.rollback()
                    raise
                file.commit()
        except sqlite3.Error as error:
            raise _refusal(self._path, error) from error


def _refusal(path: Path, error: sqlite3.Error) -> StorageError:
    match error.sqlite_errorcode & 0xFF:  # the rest says in which call
        case sqlite3.SQLITE_FULL:
            return StorageError(
                f"{path}: no space left on the disk for the work queue; free some space and run "
                f"it again"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageError(
                f"{path}: another process has kept the work queue locked for {_PATIENCE:.0f} s; "
                f"end that process (`fuser {path}` names it), then run it again"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return PermissionRefusedError(
                f"{path}: the work queue can't be written ({error}); give this user the right to "
                f"write it and its folder"
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_ERROR:
            return StorageError(
                f"{path}: the work queue is damaged or of another version ({error}); delete the "
                f"file and run it again: it is rebuilt, and nothing finished is lost"
            )
        case sqlite3.SQLITE_CANTOPEN:
            return StorageError(
                f"{path}: the work queue can't be opened; if it was deleted while a worker ran, "
                f"run it again: it is rebuilt. Otherwise check the rights on its folder"
            )
    return StorageError(f"{path}: the work queue failed ({error}); run it again")
