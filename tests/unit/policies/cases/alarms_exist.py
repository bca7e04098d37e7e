import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type
from tests.unit.policies.role_case import stack

KIND = "aws_sqs_queue"
VISIBLE = {
    "metric_name": "ApproximateNumberOfMessagesVisible",
    "dimensions": {"QueueName": "team-dead"},
}
TOLD = {"alarm_actions": ["${aws_sns_topic.alerts.arn}"]}


def redriving(arn: str) -> dict[str, Any]:
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 3})
    return {KIND: {"dead": {"name": "team-dead"}, "it": {"redrive_policy": policy}}}


QUEUES = redriving("${aws_sqs_queue.dead.arn}")


def watched(**alarm: Any) -> Trees:
    alarms = {"aws_cloudwatch_metric_alarm": {"given-up": alarm}}
    return {"team-compute": stack(QUEUES), "team-observability": stack(alarms)}


def plant(trees: Trees) -> None:
    for alarm in of_type(trees, "aws_cloudwatch_metric_alarm"):
        for query in alarm["metric_query"]:
            query.get("metric", {}).pop("dimensions", None)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        watched(**VISIBLE, **TOLD),
        watched(metric_query=[{"id": "a", "expression": "b"}, {"metric": VISIBLE}], **TOLD),
        {
            "team-compute": stack(
                {
                    **QUEUES,
                    "aws_cloudwatch_metric_alarm": {
                        "a": {
                            **VISIBLE,
                            **TOLD,
                            "dimensions": {"QueueName": "${aws_sqs_queue.dead.name}"},
                        }
                    },
                }
            )
        },
        {"team-compute": stack({KIND: {"it": {"name": "team-dead"}}})},
    ],
    fails=[
        {"team-compute": stack(QUEUES)},
        watched(**{**VISIBLE, "dimensions": {"QueueName": "team-work"}}, **TOLD),
        watched(**{**VISIBLE, "metric_name": "NumberOfMessagesSent"}, **TOLD),
        watched(**VISIBLE),
        watched(**VISIBLE, **TOLD, actions_enabled=False),
    ],
    cannot_tell=[
        {"team-compute": stack(redriving("${var.dead}"))},
        {"team-compute": stack(redriving("arn:aws:sqs:us-east-1:111122223333:elsewhere"))},
        {"team-compute": stack(QUEUES, {})},
        watched(**{**VISIBLE, "dimensions": "${var.dimensions}"}, **TOLD),
    ],
    plant=plant,
)
