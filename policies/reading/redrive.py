"""Where a queue's messages go that nobody could finish."""

from collections.abc import Mapping
from typing import Any

from policies.reading.companion import companions, is_same
from policies.reading.stack import CannotTellError, Resource, Stack, parsed


def redrive(queue: Resource) -> tuple[Mapping[str, Any], Stack]:
    """Its redrive policy and the stack that this stands in; empty where it has none."""
    for owner in (queue, *companions(queue, "aws_sqs_queue_redrive_policy", "queue_url")):
        text = owner.conf.get("redrive_policy")
        if text:
            found = parsed(text, f"{owner.path}: redrive_policy")
            if not isinstance(found, Mapping):
                raise CannotTellError(f"{owner.path}: redrive_policy is {text!r}")
            return found, owner.stack
    return {}, queue.stack


def dead_letters(queue: Resource) -> Resource | None:
    """The queue that it redrives to; None where it has none, or one that is not in these stacks.

    Raises CannotTellError where that can't be followed.
    """
    policy, stack = redrive(queue)
    arn = policy.get("deadLetterTargetArn")
    target = queue.app.target(arn, stack)
    if target is not None:
        return target
    if "${" in str(arn):
        raise CannotTellError(f"deadLetterTargetArn is {arn}, which is not in these stacks")
    name = str(arn).rpartition(":")[2]
    return next(
        (q for q in queue.app.resources("aws_sqs_queue") if q.conf.get("name") == name), None
    )


def takes_dead_letters(queue: Resource) -> bool:
    targets = (dead_letters(other) for other in queue.app.resources("aws_sqs_queue"))
    return any(target is not None and is_same(queue, target) for target in targets)
