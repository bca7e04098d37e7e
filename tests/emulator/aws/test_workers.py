"""Worker processes on a queue in SQS and a run in S3, both LocalStack's."""

import json
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from gristmill.client.finish import finish
from gristmill.client.plan import Run
from gristmill.client.state import read_state
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease
from tests.emulator.aws.cloud import FILES, Cloud, cloud_at
from tests.emulator.aws.localstack import MissingToolError, environment, localstack

pytestmark = [pytest.mark.emulator, pytest.mark.slow]

TEXTS = [f"text {n}" for n in range(300)]
SMALL = ("shard.bytes=1000", "part.records=10")
PATIENCE = 60.0
_NAMES = count(1)


def said(worker: subprocess.Popen[bytes], event: str) -> dict[str, Any]:
    """The next such event of a worker."""
    assert worker.stderr is not None
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ready, _, _ = select.select([worker.stderr], [], [], PATIENCE)
        assert ready, f"no {event} in {PATIENCE} s"
        line = worker.stderr.readline()
        assert line, f"ended without {event}"
        if line.startswith(b"{") and (found := json.loads(line))["event"] == event:
            return dict(found)
    raise AssertionError(f"no {event} in {PATIENCE} s")


def ended(worker: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, rest = worker.communicate(timeout=PATIENCE)
    return worker.returncode, rest.decode()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        environment()
    except MissingToolError as missing:
        pytest.skip(str(missing))
    with localstack(tmp_path_factory.mktemp("localstack")) as url:
        yield url


@pytest.fixture
def cloud(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    with cloud_at(endpoint, f"workers-{next(_NAMES)}", monkeypatch) as made:
        yield made


def assert_whole(cloud: Cloud, run: Run) -> None:
    finish(run, Policy.of(run.spec.blueprint))
    assert sorted(cloud.texts()) == sorted(TEXTS)
    assert cloud.queue(run).outstanding() == 0


def test_two_workers_finish_a_run_and_empty_its_queue(cloud: Cloud) -> None:
    run = cloud.plan(
        TEXTS, "shard.bytes=1000", "part.records=10", "task.engine.records_per_second=200"
    )
    cloud.make_queue(lease_seconds=30)
    assert cloud.enqueue(run) == run.plan.shards >= FILES
    workers = [cloud.start(run) for _ in range(2)]
    for worker in workers:
        code, log = ended(worker)
        assert code == ExitCode.DONE, log[-2000:]
    assert_whole(cloud, run)
    assert len(read_state(run.store).attempts) == 2
    assert cloud.enqueue(run) == 0


def test_what_a_killed_worker_held_is_free_after_the_queues_own_lease_time(cloud: Cloud) -> None:
    run = cloud.plan(
        TEXTS, "shard.bytes=1000", "part.records=10", "task.engine.records_per_second=100"
    )
    cloud.make_queue(lease_seconds=4)
    cloud.enqueue(run)
    killed = cloud.start(run)
    said(killed, "part_published")
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert cloud.queue(run).outstanding() > 0
    code, log = ended(cloud.start(run))
    assert code == ExitCode.DONE, log[-2000:]
    assert_whole(cloud, run)


def test_what_a_reclaimed_worker_held_is_free_at_once(cloud: Cloud) -> None:
    run = cloud.plan(
        TEXTS, "shard.bytes=1000", "part.records=10", "task.engine.records_per_second=100"
    )
    cloud.make_queue(lease_seconds=600)
    cloud.enqueue(run)
    reclaimed = cloud.start(run)
    said(reclaimed, "part_published")
    reclaimed.terminate()
    assert ended(reclaimed)[0] == ExitCode.RECLAIMED
    code, log = ended(cloud.start(run))
    assert code == ExitCode.DONE, log[-2000:]
    assert_whole(cloud, run)


def until(look: Callable[[], Lease | None]) -> Lease:
    deadline = time.monotonic() + PATIENCE
    while (lease := look()) is None:
        assert time.monotonic() < deadline
    return lease


def test_a_ticket_that_nobody_finishes_is_told_from_the_dead_letters(cloud: Cloud) -> None:
    run = cloud.plan(TEXTS, *SMALL)
    cloud.make_queue(lease_seconds=1, attempts=2)
    queue = cloud.queue(run)
    queue.fill([Ticket(3)])
    assert [until(queue.lease).receives for _ in range(2)] == [1, 2]

    def given_up() -> Lease | None:
        assert queue.lease() is None
        return queue.given_up()

    dead = until(given_up)
    assert dead.ticket == Ticket(3)
    queue.complete(dead)
    assert queue.given_up() is None
    assert queue.outstanding() == 0


def test_a_worker_whose_queue_is_missing_says_so(cloud: Cloud) -> None:
    run = cloud.plan(TEXTS, *SMALL)
    cloud.make_queue(lease_seconds=30)
    cloud.sqs.delete_queue(QueueUrl=cloud.url)
    code, log = ended(cloud.start(run))
    assert code == ExitCode.STORAGE
    assert "there is no such queue; deploy the blueprint again" in log
