import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_sqs_queue"
DENY: dict[str, Any] = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": "sqs:*",
    "Resource": "arn:aws:sqs:us-east-1:111122223333:work",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}


def queue(**changes: Any) -> Trees:
    policy = json.dumps({"Statement": [{**DENY, **changes}]})
    return one(KIND, name="work", policy=policy)


def apart(queue_url: str, resource: str) -> Trees:
    policy = json.dumps({"Statement": {**DENY, "Resource": [resource]}})
    return several(
        team_compute={
            KIND: {"it": {"name_prefix": "work-"}},
            "aws_sqs_queue_policy": {"tls": {"queue_url": queue_url, "policy": policy}},
        }
    )


def plant(trees: Trees) -> None:
    for conf in of_type(trees, KIND):
        conf["policy"] = conf["policy"].replace("sqs:*", "sqs:SendMessage")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        queue(),
        queue(Principal={"AWS": ["*"]}, Action=["*"], Resource="*"),
        queue(Condition={"bool": {"AWS:securetransport": [False]}}),
        apart("${aws_sqs_queue.it.url}", "${aws_sqs_queue.it.arn}"),
    ],
    fails=[
        one(KIND),
        queue(Effect="Allow"),
        queue(Action="sqs:Send*"),
        queue(Principal={"AWS": "111122223333"}),
        queue(Resource="arn:aws:sqs:us-east-1:111122223333:other"),
        queue(Condition={"Bool": {"aws:SecureTransport": "true"}}),
        queue(Condition={**DENY["Condition"], "StringEquals": {"aws:PrincipalTag/a": "b"}}),
    ],
    cannot_tell=[
        one(KIND, policy="${data.aws_iam_policy_document.tls.json}"),
        queue(Resource="${local.arn}"),
        queue(Condition={"Bool": "no"}),
        queue(Condition="none"),
        apart("${data.aws_sqs_queue.it.url}", "*"),
    ],
    plant=plant,
)
