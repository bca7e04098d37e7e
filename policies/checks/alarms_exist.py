"""Somebody hears of a shard that was given up."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.companion import is_meant
from policies.reading.provider import same_blueprint
from policies.reading.redrive import dead_letters, redrive
from policies.reading.stack import CannotTellError, Resource, blocks
from policies.reading.value import truth

METRICS: Final = ("ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage")
"""NumberOfMessagesSent doesn't count what a redrive policy moves."""


class AlarmsExist(Check):
    title = "An alarm watches the dead letter queue, and every alarm tells somebody"
    risk = "Shards that were given up lie there unseen until they are deleted."
    remedy = "Add the alarm, with the topic in alarm_actions, in infra/stacks/observability.py."
    source = (
        "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
        "dead-letter-queues-alarms-cloudwatch.html"
    )
    resources = ("aws_sqs_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        policy, _ = redrive(resource)
        if not policy:
            return
        dead = dead_letters(resource)
        if dead is None:
            raise CannotTellError("its dead letter queue is not in these stacks")
        alarms = same_blueprint(resource, "aws_cloudwatch_metric_alarm")
        if not any(_watches(alarm, dead) for alarm in alarms):
            yield f"no aws_cloudwatch_metric_alarm watches how many messages are in {dead.path}"
        for alarm in alarms:
            if not alarm.conf.get("alarm_actions"):
                yield f"{alarm.path}: alarm_actions is empty, must name a topic"
            if not truth(alarm.conf.get("actions_enabled", True), "actions_enabled"):
                yield f"{alarm.path}: actions_enabled is false"


def _watches(alarm: Resource, dead: Resource) -> bool:
    inside = [
        metric for query in alarm.blocks("metric_query") for metric in blocks(query, "metric")
    ]
    return any(
        metric.get("metric_name") in METRICS and is_meant(dead, _queue(metric), alarm.stack)
        for metric in (alarm.conf, *inside)
    )


def _queue(metric: Mapping[str, Any]) -> object:
    dimensions = metric.get("dimensions") or {}
    if not isinstance(dimensions, Mapping):
        raise CannotTellError(f"dimensions of an alarm are {dimensions!r}")
    return dimensions.get("QueueName")
