"""Roles and what they may do, for the cases of checks on them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.unit.policies.case import Tree, Trees

ACCOUNT = "111122223333"
TAGS = {
    "gristmill:platform": "grist",
    "gristmill:blueprint": "team",
    "gristmill:team": "ours",
}
BY_CONTAINER = {"Service": "ecs-tasks.amazonaws.com"}
BY_TOKEN = {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/tokens.example.com"}
BY_ACCOUNT = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
SOURCE = {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


def allow(
    actions: str | Sequence[str], resources: str | Sequence[str] = "*", **more: Any
) -> Mapping[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def document(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def equals(**values: str | list[str]) -> Mapping[str, Any]:
    """A condition; `__` for `:`."""
    return {"StringEquals": {key.replace("__", ":"): value for key, value in values.items()}}


def policy(*statements: Mapping[str, Any]) -> Trees:
    """A policy of its own, `it`, in a stack."""
    conf = {"policy": document(*statements)}
    return {"team-compute": stack({"aws_iam_policy": {"it": conf}})}


def role(
    *statements: Mapping[str, Any],
    trust: Mapping[str, Any] = BY_CONTAINER,
    resources: Mapping[str, Mapping[str, Any]] | None = None,
) -> Trees:
    """A role, `it`, with a policy, and what else is in its stack."""
    action = "sts:AssumeRoleWithWebIdentity" if "Federated" in trust else "sts:AssumeRole"
    trusted = {"Effect": "Allow", "Principal": trust, "Action": action, "Condition": SOURCE}
    made = {
        "aws_iam_role": {"it": {"name": "team-job", "assume_role_policy": document(trusted)}},
        "aws_iam_role_policy": {
            "do": {"role": "${aws_iam_role.it.name}", "policy": document(*statements)}
        },
    }
    return {"team-compute": stack({**made, **(resources or {})})}


def stack(
    resources: Mapping[str, Mapping[str, Any]], tags: Mapping[str, Any] | None = None
) -> Tree:
    provider = {
        "allowed_account_ids": [ACCOUNT],
        "default_tags": [{"tags": dict(TAGS if tags is None else tags)}],
    }
    return {"provider": {"aws": [provider]}, "resource": resources}


def grant(trees: Trees, action: str, *statements: Mapping[str, Any]) -> None:
    """Plant statements wherever a policy of a role allows `action`."""
    planted = False
    for tree in trees.values():
        for type_ in ("aws_iam_role_policy", "aws_iam_policy"):
            for conf in tree["resource"].get(type_, {}).values():
                if f'"{action}"' in conf["policy"]:
                    found = json.loads(conf["policy"])
                    found["Statement"] += statements
                    conf["policy"] = json.dumps(found)
                    planted = True
    assert planted, action
