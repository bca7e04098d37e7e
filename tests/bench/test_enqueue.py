"""Sending a run's shards to a queue in SQS: calls and rate, against LocalStack."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import boto3
import pytest

from gristmill.client.enqueue import PAGE_TICKETS, enqueue
from gristmill.contract import layout
from gristmill.queue.protocol import silent
from gristmill.queue.sqs import open_sqs
from gristmill.runtime.host import Host, WallClock, in_thread
from gristmill.store.open import open_store
from tests.bench.conftest import Bench
from tests.doubles.sqs_service import make_queue
from tests.emulator.aws.localstack import MissingToolError, environment, localstack

pytestmark = [pytest.mark.bench, pytest.mark.emulator]

SHARDS = 100_000


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder with LocalStack's record of calls."""
    try:
        environment()
    except MissingToolError as missing:
        pytest.skip(str(missing))
    with localstack(tmp_path) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield tmp_path


def calls(folder: Path, operation: str) -> int:
    recorded = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    return sum(call["operation"] == operation for call in recorded)


def test_100_000_shards_take_a_call_for_ten_and_again_none(bench: Bench, cloud: Path) -> None:
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="runs")
    sqs = boto3.client("sqs", region_name="us-east-1")
    url = make_queue(sqs, "work", lease_seconds=120, attempts=3)
    run = open_store("s3://runs/runs/r")
    queue = open_sqs(url, run=run.uri, now=time.time, tell=silent)
    host = Host(WallClock(), in_thread)

    began = time.perf_counter()
    assert anyio.run(enqueue, run, queue, range(SHARDS), host) == SHARDS
    seconds = time.perf_counter() - began

    sent = calls(cloud, "SendMessageBatch")
    bench.at_most(
        "enqueue: calls for 100,000 shards",
        sent,
        SHARDS / 10 + 1,
        f"{SHARDS / seconds:,.0f} shards/s in {seconds:.0f} s, {sent / seconds:,.0f} calls/s",
    )
    assert queue.outstanding() == SHARDS
    markers = sum(1 for _ in run.list(layout.FILLS))
    bench.at_most("enqueue: objects written to the journal", markers, SHARDS / PAGE_TICKETS + 1)
    assert anyio.run(enqueue, run, queue, range(SHARDS), host) == 0
    bench.at_most("enqueue: calls for the same again", calls(cloud, "SendMessageBatch") - sent, 0)
