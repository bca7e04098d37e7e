from collections.abc import Mapping
from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.role_case import BY_TOKEN, TAGS, allow, document, grant, role, stack

KIND = "aws_iam_role"
OWN = {"aws_s3_bucket": {"own": {"bucket": "team-runs"}}}
THEIR_TAGS = {**TAGS, "gristmill:blueprint": "theirs"}


def reach(actions: str, *resources: str, **more: Any) -> Mapping[str, Any]:
    return allow(actions, [r if "$" in r else f"arn:aws:s3:::{r}" for r in resources], **more)


def beside(trees: Trees) -> Trees:
    """With another blueprint, which writes to shared/theirs/ and makes a bucket."""
    write = document(reach("s3:PutObject", "shared/theirs/*", "their-runs/*"))
    resources = {
        "aws_iam_role_policy": {"write": {"role": "their-job", "policy": write}},
        "aws_s3_bucket": {"runs": {"bucket": "their-runs"}},
    }
    return {**trees, "their-compute": stack(resources, THEIR_TAGS)}


def below(prefix: str) -> Mapping[str, Any]:
    return {"StringLike": {"s3:prefix": [prefix]}}


def plant(trees: Trees) -> None:
    grant(trees, "sqs:DeleteMessage", reach("s3:GetObject", "*/in/*"))


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        beside(role(reach("s3:GetObject", "shared/ours/*", "team-runs/*"), resources=OWN)),
        beside(role(reach("s3:ListBucket", "shared", Condition=below("ours/*")))),
        role(reach("s3:ListBucket", "team-runs"), resources=OWN),
        role(reach("s3:GetObject", "${aws_s3_bucket.own.arn}/*"), resources=OWN),
        role(reach("s3:ListBucket", "shared"), trust=BY_TOKEN),
        role(allow("sqs:SendMessage", "arn:aws:sqs:us-east-1:111122223333:team-*")),
    ],
    fails=[
        role(allow("s3:GetObject")),
        role(reach("s3:GetObject", "*/in/*")),
        role(reach("s3:GetObject", "shared/*")),
        role(reach("s3:ListBucket", "shared")),
        role(reach("s3:ListBucket", "shared", Condition=below("*"))),
        beside(role(reach("s3:GetObject", "shared/theirs/a/*"))),
        beside(role(reach("s3:GetObject", "shared/t*"))),
        beside(role(reach("s3:GetObject", "their-runs/runs/*"))),
    ],
    cannot_tell=[
        role(reach("s3:GetObject", "${var.bucket}/in/*")),
        role({"Effect": "Allow", "Action": "s3:GetObject", "NotResource": "arn:aws:s3:::a/*"}),
    ],
    plant=plant,
)
