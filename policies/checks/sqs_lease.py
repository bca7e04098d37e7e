"""A lease outlives a heartbeat that comes late."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.redrive import takes_dead_letters
from policies.reading.stack import Resource
from policies.reading.value import number

BEATS_PER_LEASE: Final = 3
"""gristmill.runtime.leases.BEATS_PER_LEASE: the heartbeat is this fraction of the visibility
timeout, so that no timeout is too short for it by itself. An agreement test holds them together."""
ANSWER_SECONDS: Final = 20
"""Longest wait for one answer of SQS: connect_timeout and read_timeout of the client that
gristmill.queue.sqs_calls.connect makes. An agreement test holds them together."""
LEAST_SECONDS: Final = BEATS_PER_LEASE * ANSWER_SECONDS
"""So that a beat that gets no answer is over when the next one is due."""
DEFAULT_TIMEOUT: Final = 30


class QueueLease(Check):
    title = "A lease on a shard outlives a heartbeat that comes late"
    risk = "A worker loses a shard that it still works on, and another does it again."
    remedy = "Raise LEASE_SECONDS in infra/constructs/work_queue.py; 120 is enough."
    source = (
        "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
        "sqs-visibility-timeout.html"
    )
    resources = ("aws_sqs_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        if takes_dead_letters(resource):
            return
        timeout = resource.conf.get("visibility_timeout_seconds", DEFAULT_TIMEOUT)
        if number(timeout, "visibility_timeout_seconds") < LEAST_SECONDS:
            yield (
                f"visibility_timeout_seconds is {timeout}, must be {LEAST_SECONDS} or more: "
                f"{BEATS_PER_LEASE} heartbeats, and one may wait {ANSWER_SECONDS} s for its answer"
            )
