"""A run in a bucket, its queue in SQS, and the worker processes on it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import anyio
import boto3
import pytest

from gristmill.client.enqueue import enqueue
from gristmill.client.plan import Run, open_run
from gristmill.client.state import read_state
from gristmill.contract.load import load_blueprint
from gristmill.contract.process import ENV_QUEUE, ENV_QUIET, ENV_RUN
from gristmill.queue.protocol import silent
from gristmill.queue.sqs import SqsQueue, open_sqs
from gristmill.runtime.host import Host, WallClock, in_thread
from tests.doubles.sqs_service import make_queue
from tests.emulator.aws.localstack import ROOT

SELFTEST = ROOT / "blueprints" / "selftest"
FILES = 6


@dataclass
class Cloud:
    """A run of its own bucket and queue."""

    s3: Any
    sqs: Any
    bucket: str
    url: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def plan(self, texts: Sequence[str], *overrides: str) -> Run:
        lines = [json.dumps({"text": text}).encode() + b"\n" for text in texts]
        size = -(-len(lines) // FILES)
        for at in range(FILES):
            body = b"".join(lines[at * size : (at + 1) * size])
            self.s3.put_object(Bucket=self.bucket, Key=f"in/{at}.jsonl", Body=body)
        places = {
            "input.uri": f"s3://{self.bucket}/in/",
            "output.uri": f"s3://{self.bucket}/out",
        }
        blueprint = load_blueprint(SELFTEST, overrides, places)
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

    def start(self, run: Run, log: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [sys.executable, "-m", "gristmill.runtime.process"],
            env=os.environ | {ENV_RUN: run.store.uri, ENV_QUEUE: f"sqs:{self.url}", ENV_QUIET: "1"},
            stderr=log,
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


@contextmanager
def cloud_at(url: str, bucket: str, patch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """With the environment that finds it; its workers end with the block."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "GRISTMILL_"))]:
        patch.delenv(name)
    patch.setenv("AWS_ENDPOINT_URL", url)
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    patch.setenv("AWS_REGION", "us-east-1")
    patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    patch.setenv("NO_PROXY", "127.0.0.1")
    patch.setenv("PYTHONPATH", str(ROOT / "worker"))
    s3, sqs = (boto3.client(name, region_name="us-east-1") for name in ("s3", "sqs"))
    made = Cloud(s3, sqs, bucket)
    s3.create_bucket(Bucket=bucket)
    yield made
    for worker in made.workers:
        if worker.poll() is None:
            worker.kill()
        if worker.stderr is not None:
            worker.stderr.close()
        worker.wait()
