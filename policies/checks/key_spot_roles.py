"""AWS's own roles may use the key of the disks that they start machines with."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from policies.check import Check
from policies.reading.companion import companions, is_meant
from policies.reading.denial import holds, is_everybody
from policies.reading.stack import CannotTellError, Resource, blocks
from policies.reading.statement import Statement, statements

SCALING: Final = "AWSServiceRoleForAutoScaling"
"""Starts the machines of a compute environment."""
SPOT: Final = "AWSServiceRoleForEC2Spot"
USES: Final = (
    "kms:Encrypt",
    "kms:Decrypt",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:DescribeKey",
)
GRANT: Final = "kms:CreateGrant"
_FOR_AWS: Final = {"kms:GrantIsForAWSResource": "true"}


class KeySpotRoles(Check):
    title = "The roles that start machines may use the customer key of their disks"
    risk = "No machine comes up: it ends as it starts, with Client.InternalError as the only word."
    remedy = (
        "Let the service-linked roles AWSServiceRoleForAutoScaling and AWSServiceRoleForEC2Spot "
        "use the key and create grants for AWS resources, in infra/constructs/key.py; or leave "
        "kms_key_id out of the launch template in infra/constructs/gpu_queue.py."
    )
    source = (
        "https://docs.aws.amazon.com/autoscaling/ec2/userguide/"
        "key-policy-requirements-EBS-encryption.html"
    )
    resources = ("aws_launch_template",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for reference in _disk_keys(resource):
            key = resource.app.target(reference, resource.stack)
            if key is None:
                raise CannotTellError(f"ebs.kms_key_id is {reference}, not in these stacks")
            policy = _policy(key)
            for role in _roles(resource):
                for action in (*USES, GRANT):
                    if not _allows(policy, role, action):
                        yield f"the policy of {key.path} does not allow {action} to {role}"


def _disk_keys(template: Resource) -> Iterator[object]:
    for mapping in template.blocks("block_device_mappings"):
        for disk in blocks(mapping, "ebs"):
            if disk.get("kms_key_id"):
                yield disk["kms_key_id"]


def _policy(key: Resource) -> Sequence[Statement]:
    if key.conf.get("policy"):
        return statements(key.conf["policy"], f"{key.path}: policy")
    return [
        statement
        for policy in companions(key, "aws_kms_key_policy", "key_id")
        for statement in statements(policy.conf.get("policy"), f"{policy.path}: policy")
    ]


def _roles(template: Resource) -> Iterator[str]:
    yield SCALING
    for environment in template.app.resources("aws_batch_compute_environment"):
        for compute in environment.blocks("compute_resources"):
            if str(compute.get("type")).upper() == "SPOT" and _starts_with(
                template, environment, compute
            ):
                yield SPOT
                return


def _starts_with(template: Resource, environment: Resource, compute: Any) -> bool:
    return any(
        is_meant(template, used.get("launch_template_id"), environment.stack)
        or is_meant(template, used.get("launch_template_name"), environment.stack)
        for used in blocks(compute, "launch_template")
    )


def _allows(policy: Sequence[Statement], role: str, action: str) -> bool:
    allowing = [
        statement
        for statement in policy
        if statement.allows
        and not statement.inverted
        and statement.covers(action)
        and holds(statement, _FOR_AWS if action == GRANT else {})
    ]
    if any(_is_for(statement.principal, role) for statement in allowing):
        return True
    for statement in allowing:
        if "${" in str(statement.principal):
            raise CannotTellError(
                f"a statement of the key allows {action} to {statement.principal}"
            )
    return False


def _is_for(principal: Any, role: str) -> bool:
    if is_everybody(principal):
        return True
    named = principal.get("AWS", []) if isinstance(principal, dict) else []
    for arn in named if isinstance(named, list) else [named]:
        name = str(arn).rpartition("/")[2]
        # Auto Scaling's may be one of several, told apart by what follows.
        if name == role or name.startswith(f"{role}_"):
            return True
    return False
