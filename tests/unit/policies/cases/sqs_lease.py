import json

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_sqs_queue"
TO_IT = json.dumps({"deadLetterTargetArn": "${aws_sqs_queue.it.arn}", "maxReceiveCount": 4})


def plant(trees: Trees) -> None:
    for queue in of_type(trees, KIND):
        queue["visibility_timeout_seconds"] = 20


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, visibility_timeout_seconds=60),
        one(KIND, visibility_timeout_seconds="120"),
        several(team_compute={KIND: {"it": {}, "work": {"redrive_policy": TO_IT}}}),
    ],
    fails=[one(KIND), one(KIND, visibility_timeout_seconds=59)],
    cannot_tell=[
        one(KIND, visibility_timeout_seconds="${var.lease}"),
        one(KIND, visibility_timeout_seconds="a minute"),
    ],
    plant=plant,
)
