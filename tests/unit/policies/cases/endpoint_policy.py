import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_vpc_endpoint"
OURS = {"StringEquals": {"aws:PrincipalAccount": "111122223333"}}
ALL: dict[str, Any] = {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}


def policy(**changes: Any) -> str:
    return json.dumps({"Statement": [{**ALL, **changes}]})


def endpoint(**changes: Any) -> Trees:
    return one(KIND, policy=policy(**changes))


def apart(endpoint_id: str) -> Trees:
    said = {"vpc_endpoint_id": endpoint_id, "policy": policy(Condition=OURS)}
    return several(team_foundation={KIND: {"it": {}}, "aws_vpc_endpoint_policy": {"policy": said}})


def plant(trees: Trees) -> None:
    for conf in of_type(trees, KIND):
        conf["policy"] = conf["policy"].replace("aws:PrincipalAccount", "aws:RequestedRegion")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        endpoint(Condition=OURS),
        endpoint(Condition={"StringLike": {"aws:PrincipalOrgID": ["o-acme"]}}),
        endpoint(Principal={"AWS": "111122223333"}),
        endpoint(Action="s3:GetObject", Resource=["arn:aws:s3:::grain", "arn:aws:s3:::grain/*"]),
        endpoint(Resource="arn:aws:sqs:us-east-1:111122223333:*"),
        endpoint(Resource=["${aws_s3_bucket.grain.arn}/*"]),
        endpoint(Effect="Deny"),
        apart("${aws_vpc_endpoint.it.id}"),
    ],
    fails=[
        one(KIND),
        endpoint(),
        endpoint(Action="s3:GetObject"),
        endpoint(Resource=["arn:aws:s3:::grain", "arn:aws:s3:::*"]),
        endpoint(Resource="arn:aws:sqs:*:*:*"),
        endpoint(Principal={"AWS": ["*"]}),
        endpoint(Condition={"StringEquals": {"aws:RequestedRegion": "us-east-1"}}),
        endpoint(Condition={"StringLike": {"aws:PrincipalAccount": "*"}}),
        endpoint(Condition={"StringNotEquals": {"aws:PrincipalAccount": "111122223333"}}),
        endpoint(NotResource="arn:aws:s3:::secret", Resource="arn:aws:s3:::grain"),
    ],
    cannot_tell=[
        one(KIND, policy="${data.aws_iam_policy_document.ours.json}"),
        endpoint(Condition="ours"),
        endpoint(Resource="${var.what}"),
        apart("${data.aws_vpc_endpoint.it.id}"),
    ],
    plant=plant,
)
