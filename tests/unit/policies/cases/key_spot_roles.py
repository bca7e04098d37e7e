import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_launch_template"
KEY = "${aws_kms_key.key.arn}"
ROLES = "arn:aws:iam::111122223333:role/aws-service-role"
SCALING = f"{ROLES}/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
SPOT = f"{ROLES}/spot.amazonaws.com/AWSServiceRoleForEC2Spot"
USES = ["Encrypt", "Decrypt", "ReEncrypt*", "GenerateDataKey*", "DescribeKey"]
FOR_AWS = {"Bool": {"kms:GrantIsForAWSResource": True}}


def allow(actions: list[str], *roles: str, **changes: Any) -> dict[str, Any]:
    said = {"Effect": "Allow", "Principal": {"AWS": list(roles)}, "Resource": "*"}
    return {**said, "Action": [f"kms:{action}" for action in actions], **changes}


def both(*roles: str, **changes: Any) -> list[dict[str, Any]]:
    grant = allow(["CreateGrant"], *roles, Condition=FOR_AWS)
    return [allow(USES, *roles, **changes), {**grant, **changes}]


def machines(kind: str, *said: dict[str, Any], key: str = KEY) -> Trees:
    disks = [{"device_name": "/dev/xvda", "ebs": [{"encrypted": True, "kms_key_id": key}]}]
    template = {"launch_template_id": "${aws_launch_template.it.id}"}
    return several(
        team_compute={
            KIND: {"it": {"block_device_mappings": disks}},
            "aws_kms_key": {"key": {"policy": json.dumps({"Statement": list(said)})}},
            "aws_batch_compute_environment": {
                "gpu": {"compute_resources": {"type": kind, "launch_template": [template]}}
            },
        }
    )


def with_policy(trees: Trees, policy: str | None) -> Trees:
    trees["team-compute"]["resource"]["aws_kms_key"]["key"]["policy"] = policy
    return trees


def policy_apart(trees: Trees) -> Trees:
    resources = trees["team-compute"]["resource"]
    policy = resources["aws_kms_key"]["key"].pop("policy")
    resources["aws_kms_key_policy"] = {"it": {"key_id": KEY, "policy": policy}}
    return trees


def plant(trees: Trees) -> None:
    for tree in trees.values():
        for name in tree["resource"].get("aws_kms_key", {}):
            key = f"${{aws_kms_key.{name}.arn}}"
            tree["resource"].setdefault(KIND, {})["disk"] = {
                "block_device_mappings": {"ebs": {"kms_key_id": key}}
            }
    of_type(trees, KIND)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND),
        one(KIND, block_device_mappings={"ebs": {"encrypted": True}}),
        machines("EC2", *both(SCALING)),
        machines("SPOT", *both(SCALING, SPOT)),
        machines("EC2", *both(f"{SCALING}_mine")),
        machines("EC2", allow(["*"], "*")),
        policy_apart(machines("EC2", *both(SCALING))),
    ],
    fails=[
        with_policy(machines("EC2"), None),
        machines("EC2"),
        machines("SPOT", *both(SCALING)),
        machines("EC2", *both(SCALING)[:1]),
        machines("EC2", *both(SCALING)[1:]),
        machines("EC2", *both("arn:aws:iam::111122223333:root")),
        machines("EC2", *both(SCALING, Condition={"StringEquals": {"kms:ViaService": "s3"}})),
        machines("EC2", allow(["*"], Principal={"Service": "logs.amazonaws.com"})),
    ],
    cannot_tell=[
        machines("EC2", *both(SCALING), key="${data.aws_kms_key.key.arn}"),
        machines("EC2", *both(SCALING), key="arn:aws:kms:us-east-1:111122223333:key/other"),
        machines("EC2", *both("${data.aws_iam_role.scaling.arn}")),
        with_policy(machines("EC2"), "${data.aws_iam_policy_document.key.json}"),
        one(KIND, block_device_mappings="${local.disks}"),
    ],
    plant=plant,
)
