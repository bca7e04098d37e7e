import json
from collections.abc import Mapping
from typing import Any

from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.role_case import allow, grant, role

KIND = "aws_batch_job_definition"
ARN = "arn:aws:iam::111122223333:role/team-job"
DATA = "arn:aws:s3:::data/out/*"


def job(*statements: Mapping[str, Any], arn: str = ARN) -> Trees:
    definition = {"container_properties": json.dumps({"jobRoleArn": arn})}
    return role(*statements, resources={KIND: {"it": definition}})


def attached() -> Trees:
    trees = job()
    trees["team-compute"]["resource"]["aws_iam_role_policy_attachment"] = {
        "all": {
            "role": "${aws_iam_role.it.name}",
            "policy_arn": "arn:aws:iam::aws:policy/AdministratorAccess",
        }
    }
    return trees


def inside() -> Trees:
    trees = job()
    conf = trees["team-compute"]["resource"]["aws_iam_role"]["it"]
    text = trees["team-compute"]["resource"]["aws_iam_role_policy"].pop("do")["policy"]
    conf["inline_policy"] = [{"name": "do", "policy": text.replace("[]", json.dumps([DELETE]))}]
    return trees


DELETE = allow("s3:DeleteObject", DATA)


def plant(trees: Trees) -> None:
    grant(trees, "sqs:DeleteMessage", DELETE)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        job(allow(["s3:GetObject", "s3:PutObject", "sqs:DeleteMessage", "sqs:Get*"], DATA)),
        one(KIND, container_properties="{}"),
    ],
    fails=[
        job(DELETE),
        job(allow("s3:*", DATA)),
        job(allow("*", DATA)),
        job(allow("s3:Put*", DATA)),
        job(allow("s3:DeleteObjectVersion", DATA)),
        job(allow("sqs:Delete*", DATA)),
        job(allow("sqs:PurgeQueue", DATA)),
        job(allow("kms:ScheduleKeyDeletion", DATA)),
        job(allow("kms:PutKeyPolicy", DATA)),
        inside(),
    ],
    cannot_tell=[
        job(arn="arn:aws:iam::111122223333:role/elsewhere"),
        job({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}),
        attached(),
        one(KIND, node_properties="{}"),
    ],
    plant=plant,
)
