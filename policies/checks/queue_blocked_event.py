"""Somebody hears of a queue whose next job can't start."""

from collections.abc import Iterator
from typing import Any, Final

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.provider import same_blueprint
from policies.reading.stack import CannotTellError, Resource, parsed
from policies.reading.statement import means

PATTERN: Final = {"source": "aws.batch", "detail-type": "Batch Job Queue Blocked"}


class QueueBlockedEvent(Check):
    title = "A queue whose next job can't start tells somebody"
    risk = "No machine to be had, or a job that fits none: a run stands still and nobody knows."
    remedy = (
        'Add a rule on "Batch Job Queue Blocked" with the queue and a target, in '
        "infra/stacks/observability.py."
    )
    source = (
        "https://docs.aws.amazon.com/batch/latest/userguide/batch-job-queue-blocked-events.html"
    )
    resources = ("aws_batch_job_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        rules = [
            rule
            for rule in same_blueprint(resource, "aws_cloudwatch_event_rule")
            if _hears(rule, resource)
        ]
        if not rules:
            yield 'no aws_cloudwatch_event_rule hears of "Batch Job Queue Blocked" for this queue'
        for rule in rules:
            if rule.conf.get("state") == "DISABLED":
                yield f"{rule.path}: state is DISABLED"
            if not companions(rule, "aws_cloudwatch_event_target", "rule"):
                yield f"{rule.path}: has no aws_cloudwatch_event_target"


def _hears(rule: Resource, queue: Resource) -> bool:
    if rule.conf.get("event_pattern") is None:
        return False
    pattern = parsed(rule.conf["event_pattern"], f"{rule.path}: event_pattern")
    if any(value not in _listed(rule, pattern, key) for key, value in PATTERN.items()):
        return False
    queues = _listed(rule, pattern, "resources")
    return not queues or any(means(reference, queue, rule.stack) for reference in queues)


def _listed(rule: Resource, pattern: Any, key: str) -> list[str]:
    values = pattern.get(key, []) if isinstance(pattern, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise CannotTellError(
            f"{rule.path}: event_pattern has {key} {values!r}, not a list of texts"
        )
    return values
