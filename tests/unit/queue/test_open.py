from pathlib import Path

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.contract.process import ENV_INDEX
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.local import LocalQueue
from gristmill.queue.open import QueueRun, open_queue
from tests.doubles.memory_store import MemoryStore


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


@pytest.mark.parametrize("spec", ["", "local", "local:", "indexed:4", "/path/alone"])
def test_another_spec_is_refused_with_what_is_allowed(spec: str) -> None:
    with pytest.raises(ConfigError, match="local:<path of a file>"):
        open_queue(spec, now=lambda: 0.0, token=lambda: "t", attempts=3)
