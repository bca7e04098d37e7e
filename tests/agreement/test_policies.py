"""What the checks know of the worker, and what the worker does."""

import pytest

from gristmill.contract.process import ExitCode
from gristmill.queue.sqs_calls import connect
from gristmill.runtime.leases import BEATS_PER_LEASE
from infra.constructs.work_queue import LEASE_SECONDS
from policies.checks import job_retry_reclaimed, sqs_lease

URL = "https://sqs.us-east-1.amazonaws.com/111122223333/work"


def test_the_code_that_is_retried_is_the_one_that_a_reclaimed_worker_ends_with() -> None:
    assert str(int(ExitCode.RECLAIMED)) == job_retry_reclaimed.RECLAIMED


def test_the_heartbeat_is_the_workers() -> None:
    assert sqs_lease.BEATS_PER_LEASE == BEATS_PER_LEASE


def test_an_answer_of_sqs_takes_as_long_as_the_worker_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    config = connect(URL).meta.config
    assert config.connect_timeout + config.read_timeout == sqs_lease.ANSWER_SECONDS


def test_the_lease_that_is_deployed_is_long_enough() -> None:
    assert LEASE_SECONDS >= sqs_lease.LEAST_SECONDS
