"""What nobody could finish leaves the queue, and is kept."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.redrive import dead_letters, redrive, takes_dead_letters
from policies.reading.stack import Resource
from policies.reading.value import number

LEAST_RECEIVES: Final = 2
"""With 1, a machine that is reclaimed costs its shard."""
DEFAULT_RETENTION: Final = 345_600


class DeadLetter(Check):
    title = "A message that nobody can finish goes to a dead letter queue that keeps it"
    risk = "A shard that fails is tried for ever, or is lost before anybody looks at it."
    remedy = (
        "Give the queue a redrive_policy, and the dead letter queue the same retention or more, "
        "in infra/constructs/work_queue.py; maxReceiveCount is capacity.attempts of blueprint.yaml."
    )
    source = (
        "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
        "sqs-dead-letter-queues.html"
    )
    resources = ("aws_sqs_queue",)
    chosen_by = "capacity.attempts"

    def faults(self, resource: Resource) -> Iterator[str]:
        policy, _ = redrive(resource)
        if not policy:
            if not takes_dead_letters(resource):
                yield "there is no redrive_policy, and no queue redrives to this one"
            return
        receives = policy.get("maxReceiveCount")
        if number(receives, "redrive_policy.maxReceiveCount") < LEAST_RECEIVES:
            yield f"redrive_policy.maxReceiveCount is {receives}, must be {LEAST_RECEIVES} or more"
        target = dead_letters(resource)
        if target is None:
            arn = policy.get("deadLetterTargetArn")
            yield f"redrive_policy.deadLetterTargetArn is {arn}, which is not in these stacks"
        elif _retention(target) < _retention(resource):
            yield (
                f"message_retention_seconds of {target.path} is {_retention(target):.0f}, "
                f"less than the {_retention(resource):.0f} of this queue"
            )


def _retention(queue: Resource) -> float:
    seconds = queue.conf.get("message_retention_seconds", DEFAULT_RETENTION)
    return number(seconds, f"{queue.path}: message_retention_seconds")
