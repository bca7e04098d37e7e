import subprocess
import sys
from pathlib import Path

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.contract.process import ENV_INDEX
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.local import LocalQueue
from gristmill.queue.open import QueueRun, open_queue
from gristmill.queue.sqs import SqsQueue
from tests.doubles.memory_store import MemoryStore
from tests.doubles.sqs_service import make_queue, sqs_service

RUN = QueueRun(MemoryStore(), 9, lambda: 0.0, {})


def test_local_opens_a_file(tmp_path: Path) -> None:
    queue = open_queue(
        f"local:{tmp_path}/queue.sqlite",
        now=lambda: 0.0,
        token=lambda: "t",
        lease_seconds=5,
        attempts=3,
    )
    assert isinstance(queue, LocalQueue)
    assert queue.lease_seconds == 5
    assert (tmp_path / "queue.sqlite").exists()


def test_sqs_opens_a_queue_and_hands_on_run_and_quiet_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with sqs_service(lambda: 0.0, monkeypatch) as client:
        url = make_queue(client, "work", lease_seconds=90, attempts=3)
        queue = open_queue(
            f"sqs:{url}",
            now=lambda: 0.0,
            token=lambda: "t",
            attempts=9,
            run=RUN,
            quiet_seconds=7,
        )
    assert isinstance(queue, SqsQueue)
    assert (queue.lease_seconds, queue.quiet_seconds) == (90, 7)


def test_sqs_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gristmill.queue.sqs", "gristmill.queue.sqs_calls"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("boto3", "boto3.session"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=r"is not installed; install gristmill\[aws\]"):
        open_queue("sqs:url", now=lambda: 0.0, token=lambda: "t", attempts=3, run=RUN)


def test_a_worker_without_sqs_does_not_load_its_library() -> None:
    code = "import sys, gristmill.queue.open; sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_indexed_opens_the_claims_of_the_run() -> None:
    queue = open_queue(
        "indexed:4",
        now=lambda: 0.0,
        token=lambda: "t",
        attempts=3,
        run=QueueRun(MemoryStore(), 9, lambda: 0.0, {ENV_INDEX: "2"}),
    )
    assert isinstance(queue, IndexedQueue)
    assert queue.lease_seconds == 60
    assert queue.outstanding() == 9
    lease = queue.lease()
    assert lease is not None
    assert lease.ticket.shard == 2


@pytest.mark.parametrize(
    "spec", ["", "local", "local:", "sqs:", "sqs:url", "indexed:4", "/path/alone"]
)
def test_another_spec_is_refused_with_what_is_allowed(spec: str) -> None:
    with pytest.raises(ConfigError, match="local:<path of a file>, sqs:<URL of a queue>, or"):
        open_queue(spec, now=lambda: 0.0, token=lambda: "t", attempts=3)
