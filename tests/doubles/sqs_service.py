"""SQS in this process: moto behind botocore itself, on a clock that the test turns."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock
from typing import Any
from unittest.mock import patch

import boto3

_FOREIGN = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_PROFILE")


@contextmanager
def sqs_service(now: Callable[[], float], env: Any) -> Iterator[Any]:
    """A client of it. `env` is pytest's monkeypatch."""
    from moto import mock_aws
    from moto.sqs.models import SQSBackend

    for name in _FOREIGN:
        env.delenv(name, raising=False)
    env.setenv("AWS_REGION", "us-east-1")
    calls, turn, receive = count(1), Lock(), SQSBackend.receive_message

    def seconds() -> float:
        # No two calls at the same moment: for moto a message is free only after its time.
        return now() + next(calls) * 1e-6

    def one_at_a_time(*args: Any, **options: Any) -> Any:
        with turn:  # as behind one server; moto's backend itself keeps nobody apart
            return receive(*args, **options)

    with (
        mock_aws(),
        patch("moto.sqs.models.unix_time", seconds),
        patch("moto.sqs.models.unix_time_millis", lambda: seconds() * 1000),
        patch.object(SQSBackend, "receive_message", one_at_a_time),
    ):
        yield boto3.client("sqs", region_name="us-east-1")


def make_queue(client: Any, name: str, *, lease_seconds: int, attempts: int | None) -> str:
    """URL of a new queue, with dead letters beside it unless `attempts` is None."""
    attributes = {"VisibilityTimeout": str(lease_seconds)}
    if attempts is not None:
        dead = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        found = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
        attributes["RedrivePolicy"] = json.dumps(
            {
                "deadLetterTargetArn": found["Attributes"]["QueueArn"],
                "maxReceiveCount": attempts,
            }
        )
    return str(client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])
