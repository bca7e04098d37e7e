import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_sqs_queue"
ARN = "${aws_sqs_queue.dead.arn}"
LONG = {"message_retention_seconds": 1_209_600}


def redrive(arn: str = ARN, receives: object = 4) -> dict[str, str]:
    return {"redrive_policy": json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": receives})}


def queues(it: dict[str, Any], dead: dict[str, Any] | None = None) -> Trees:
    return several(team_compute={KIND: {"it": it, "dead": dead or {"name": "dead"}}})


def plant(trees: Trees) -> None:
    for queue in of_type(trees, KIND):
        queue.pop("redrive_policy", None)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        queues(redrive()),
        queues(redrive("arn:aws:sqs:us-east-1:111122223333:dead", "2")),
        queues({**redrive(), "message_retention_seconds": 60}, LONG),
        several(team_compute={KIND: {"it": {}, "work": redrive("${aws_sqs_queue.it.arn}")}}),
        several(
            team_compute={
                KIND: {"it": {}, "dead": {}},
                "aws_sqs_queue_redrive_policy": {
                    "to": {"queue_url": "${aws_sqs_queue.it.url}", **redrive()}
                },
            }
        ),
    ],
    fails=[
        one(KIND),
        queues(redrive(receives=1)),
        queues(redrive("arn:aws:sqs:us-east-1:111122223333:elsewhere")),
        queues({**redrive(), **LONG}),
    ],
    cannot_tell=[
        queues(redrive("${data.aws_sqs_queue.dead.arn}")),
        queues(redrive(receives="${var.attempts}")),
        queues({"redrive_policy": "${local.redrive}"}),
        queues({"redrive_policy": "[]"}),
        queues(redrive(), {"message_retention_seconds": "${var.seconds}"}),
    ],
    plant=plant,
)
