"""Worker processes on a queue in SQS and a run in S3, both LocalStack's."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import anyio
import boto3
import pytest

from gristmill.client.enqueue import enqueue
from gristmill.client.finish import finish
from gristmill.client.plan import Run, open_run
from gristmill.client.state import read_state
from gristmill.contract.load import load_blueprint
from gristmill.contract.process import ENV_QUEUE, ENV_QUIET, ENV_RUN, ExitCode
from gristmill.contract.run import Policy
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, silent
from gristmill.queue.sqs import SqsQueue, open_sqs
from gristmill.runtime.host import Host, WallClock, in_thread
from tests.doubles.sqs_service import make_queue
from tests.emulator.aws.localstack import ROOT, MissingToolError, environment, localstack

pytestmark = [pytest.mark.emulator, pytest.mark.slow]

SELFTEST = ROOT / "blueprints" / "selftest"
TEXTS = [f"text {n}" for n in range(300)]
FILES = 6
PATIENCE = 60.0
_NAMES = count(1)


@dataclass
class Cloud:
    """A run of its own bucket and queue."""

    s3: Any
    sqs: Any
    bucket: str
    url: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def plan(self, *overrides: str) -> Run:
        texts = [json.dumps({"text": text}).encode() + b"\n" for text in TEXTS]
        size = len(texts) // FILES
        for at in range(FILES):
            body = b"".join(texts[at * size : (at + 1) * size])
            self.s3.put_object(Bucket=self.bucket, Key=f"in/{at}.jsonl", Body=body)
        places = {
            "input.uri": f"s3://{self.bucket}/in/",
            "output.uri": f"s3://{self.bucket}/out",
        }
        blueprint = load_blueprint(SELFTEST, ("shard.bytes=1000", *overrides), places)
        return open_run(blueprint, f"s3://{self.bucket}/runs", "r")

    def make_queue(self, lease_seconds: int, attempts: int = 5) -> None:
        self.url = make_queue(self.sqs, self.bucket, lease_seconds=lease_seconds, attempts=attempts)

    def queue(self, run: Run) -> SqsQueue:
        return open_sqs(self.url, run=run.store.uri, now=time.time, tell=silent, poll_seconds=1)

    def enqueue(self, run: Run) -> int:
        state = read_state(run.store)
        pending = [n for n in range(run.plan.shards) if n not in state.shards]
        host = Host(WallClock(), in_thread)
        return anyio.run(enqueue, run.store, self.queue(run), pending, host)

    def start(self, run: Run) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [sys.executable, "-m", "gristmill.runtime.process"],
            env=os.environ | {ENV_RUN: run.store.uri, ENV_QUEUE: f"sqs:{self.url}", ENV_QUIET: "1"},
            stderr=subprocess.PIPE,
        )
        self.workers.append(worker)
        return worker

    def texts(self) -> list[str]:
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix="out/")["Contents"]
        bodies = [
            self.s3.get_object(Bucket=self.bucket, Key=info["Key"])["Body"].read()
            for info in listed
        ]
        return [json.loads(line)["text"] for body in bodies for line in body.splitlines()]


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
    for name in [name for name in os.environ if name.startswith(("AWS_", "GRISTMILL_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "worker"))
    s3, sqs = (boto3.client(name, region_name="us-east-1") for name in ("s3", "sqs"))
    made = Cloud(s3, sqs, f"workers-{next(_NAMES)}")
    s3.create_bucket(Bucket=made.bucket)
    yield made
    for worker in made.workers:
        if worker.poll() is None:
            worker.kill()
        worker.communicate()


def assert_whole(cloud: Cloud, run: Run) -> None:
    finish(run, Policy.of(run.spec.blueprint))
    assert sorted(cloud.texts()) == sorted(TEXTS)
    assert cloud.queue(run).outstanding() == 0


def test_two_workers_finish_a_run_and_empty_its_queue(cloud: Cloud) -> None:
    run = cloud.plan("part.records=10", "task.engine.records_per_second=200")
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
    run = cloud.plan("part.records=10", "task.engine.records_per_second=100")
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
    run = cloud.plan("part.records=10", "task.engine.records_per_second=100")
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
    run = cloud.plan()
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
    run = cloud.plan()
    cloud.make_queue(lease_seconds=30)
    cloud.sqs.delete_queue(QueueUrl=cloud.url)
    code, log = ended(cloud.start(run))
    assert code == ExitCode.STORAGE
    assert "there is no such queue; deploy the blueprint again" in log
