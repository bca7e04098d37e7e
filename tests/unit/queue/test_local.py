import sqlite3
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from gristmill.contract.errors import PermissionRefusedError, StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue import local
from gristmill.queue.local import LocalQueue
from gristmill.queue.protocol import LeaseLostError

ATTEMPTS = 3
_WORK = """
import sys, time, uuid
from pathlib import Path
from gristmill.queue.open import open_queue

queue = open_queue(
    f"local:{sys.argv[1]}", now=time.time, token=lambda: uuid.uuid4().hex, attempts=3
)
print("ready", flush=True)
sys.stdin.readline()
while (lease := queue.lease()) is not None:
    print(lease.ticket.shard, lease.receives, flush=True)
    queue.complete(lease)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "queue #1?.sqlite"


def opened(
    path: Path, owner: str = "me", alive: Callable[[str], bool] = lambda _: True
) -> LocalQueue:
    numbers = count()
    return LocalQueue(
        path,
        now=lambda: 1000.0,
        token=lambda: f"{owner}-{next(numbers)}",
        owner=owner,
        alive=alive,
        lease_seconds=60,
        attempts=ATTEMPTS,
    )


def test_the_leases_of_a_dead_process_are_free_at_once(path: Path) -> None:
    dead: set[str] = set()
    killed = opened(path, "killed")
    killed.fill(map(Ticket, [1, 2, 3]))
    killed.lease()
    killed.lease()
    survivor = opened(path, "survivor", alive=lambda owner: owner not in dead)
    third = survivor.lease()
    assert third is not None
    assert (third.ticket.shard, third.receives) == (3, 1)
    dead.add("killed")
    first = survivor.lease()
    assert first is not None
    assert (first.ticket.shard, first.receives) == (1, 2)


def test_a_lease_taken_over_from_the_dead_is_lost_to_them(path: Path) -> None:
    supposed_dead = opened(path, "supposed dead")
    supposed_dead.fill(map(Ticket, [1]))
    lease = supposed_dead.lease()
    assert lease is not None
    assert opened(path, "other", alive=lambda _: False).lease() is not None
    with pytest.raises(LeaseLostError):
        supposed_dead.extend(lease)


def test_nobody_asks_whether_oneself_lives(path: Path) -> None:
    queue = opened(path, "me", alive=lambda _: False)
    queue.fill(map(Ticket, [1]))
    assert queue.lease() is not None
    assert queue.lease() is None


def test_a_completed_shard_stays_completed_though_the_lease_was_lost(path: Path) -> None:
    slow, quick = opened(path, "slow"), opened(path, "quick", alive=lambda _: False)
    slow.fill(map(Ticket, [1]))
    lost = slow.lease()
    current = quick.lease()
    assert lost is not None
    assert current is not None
    slow.complete(lost)
    assert quick.outstanding() == 0
    with pytest.raises(LeaseLostError):
        quick.extend(current)


def test_what_one_process_knows_the_next_knows(path: Path) -> None:
    first = opened(path)
    first.fill(map(Ticket, range(3)))
    lease = first.lease()
    assert lease is not None
    first.complete(lease)
    second = opened(path, "other")
    assert second.outstanding() == 2
    found = second.lease()
    assert found is not None
    assert found.ticket.shard == 1


def test_processes_never_share_a_shard(path: Path) -> None:
    opened(path).fill(map(Ticket, range(60)))
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORK, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    answers = []
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        out, _ = worker.communicate()
        assert worker.returncode == 0
        answers += out.splitlines()
    assert sorted(answers, key=lambda line: int(line.split()[0])) == [f"{n} 1" for n in range(60)]


def test_a_deleted_file_is_filled_again(path: Path) -> None:
    opened(path).fill(map(Ticket, [1, 2]))
    path.unlink()
    again = opened(path)
    assert again.outstanding() == 0
    again.fill(map(Ticket, [1, 2]))
    assert again.outstanding() == 2


def test_a_file_deleted_under_a_worker_is_no_finished_work(path: Path) -> None:
    queue = opened(path)
    queue.fill(map(Ticket, [1, 2]))
    path.unlink()
    with pytest.raises(StorageError, match="run it again: it is rebuilt"):
        queue.outstanding()
    assert not path.exists()


def test_a_damaged_file_is_named_and_may_be_deleted(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all, but long enough to be read as one" * 100)
    with pytest.raises(StorageError, match=r"queue #1\?\.sqlite: .*delete the file") as refused:
        opened(path)
    assert not isinstance(refused.value, PermissionRefusedError)


def test_a_file_of_another_version_may_be_deleted(path: Path) -> None:
    path.parent.mkdir()
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE tickets (other)")
    file.close()
    with pytest.raises(StorageError, match="delete the file"):
        opened(path)


def test_a_locked_file_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = opened(path)
    monkeypatch.setattr(local, "_PATIENCE", 0.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StorageError, match="another process has kept the work queue locked"):
        queue.lease()
    other.rollback()
    other.close()
    assert queue.lease() is None


def test_a_full_disk_says_so_and_forgets_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = opened(path)
    queue.fill(map(Ticket, [1]))
    real = sqlite3.connect

    def bounded(*args: object, **options: object) -> sqlite3.Connection:
        file = real(*args, **options)  # type: ignore[call-overload]
        assert isinstance(file, sqlite3.Connection)
        file.execute("PRAGMA max_page_count = 8")
        return file

    monkeypatch.setattr(sqlite3, "connect", bounded)
    with pytest.raises(StorageError, match="no space left on the disk"):
        queue.fill(map(Ticket, range(100_000)))
    assert queue.outstanding() == 1


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="can't make the folder"):
        opened(tmp_path / "file" / "queue.sqlite")


def test_a_file_that_can_not_be_opened_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StorageError, match="can't be opened"):
        opened(path)
