from collections.abc import Mapping
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one
from tests.unit.policies.role_case import allow, equals, policy

KIND = "aws_iam_policy"
OURS = "arn:aws:iam::111122223333:role/team-*"
WITHIN = equals(iam__PermissionsBoundary="arn:aws:iam::111122223333:policy/boundary")


def bounded(*statements: Mapping[str, Any]) -> Trees:
    trees = policy(*statements)
    trees["team-compute"]["resource"]["aws_iam_role"] = {
        "job": {"permissions_boundary": "arn:aws:iam::111122223333:policy/boundary"}
    }
    return trees


def plant(trees: Trees) -> None:
    of_type(trees, "aws_iam_role")[0].pop("permissions_boundary")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        policy(allow("iam:CreateRole", OURS)),
        policy(allow("iam:CreateRole", Condition=WITHIN)),
        bounded(allow(["iam:CreateRole", "iam:PutRolePolicy"], OURS, Condition=WITHIN)),
        bounded(allow("iam:DeleteRole", OURS)),
    ],
    fails=[
        policy(allow("iam:CreateRole")),
        policy(allow("iam:*", "arn:aws:iam::111122223333:role/*")),
        policy(allow("iam:PutRolePolicy", "arn:aws:iam::111122223333:role/teams")),
        policy(allow("iam:CreateRole", Condition=equals(iam__PermissionsBoundary="*"))),
        bounded(allow("iam:AttachRolePolicy", OURS)),
    ],
    cannot_tell=[
        policy(allow("iam:CreateRole", "${var.role}")),
        policy(allow("iam:CreateRole", Condition=equals(iam__PermissionsBoundary="${var.b}"))),
        one(KIND, policy="${var.policy}"),
    ],
    plant=plant,
)
