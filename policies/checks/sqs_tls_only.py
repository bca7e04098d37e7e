"""Queues answer to TLS only."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.denial import Request, is_denied
from policies.reading.stack import Resource, Stack
from policies.reading.statement import Statement, statements

PLAIN: Final = Request("sqs:*", {"aws:SecureTransport": "false"})


class QueueTlsOnly(Check):
    title = "A queue answers to nobody without TLS"
    risk = "Messages and signatures can be read on their way."
    remedy = (
        "Deny sqs:* to everyone where aws:SecureTransport is false, in the queue's policy in "
        "infra/constructs/work_queue.py."
    )
    source = (
        "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
        "sqs-security-best-practices.html"
    )
    resources = ("aws_sqs_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        if not is_denied(PLAIN, resource, _policies(resource)):
            yield "no statement of its policy denies sqs:* where aws:SecureTransport is false"


def _policies(queue: Resource) -> Iterator[tuple[Stack, tuple[Statement, ...]]]:
    if queue.conf.get("policy"):
        yield queue.stack, statements(queue.conf["policy"], "policy")
    else:
        for policy in companions(queue, "aws_sqs_queue_policy", "queue_url"):
            yield policy.stack, statements(policy.conf.get("policy"), f"{policy.path}: policy")
