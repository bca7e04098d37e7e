"""What a policy says to one call: a small evaluator of the statements that stacks write."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

S3_ACTIONS = {
    "HeadBucket": "ListBucket",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "HeadObject": "GetObject",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
}
"""Operations of S3 -> the action that they need, where the names differ."""

S3_SETTINGS = {
    "HeadBucket": "ListBucket",
    "DeleteBucketEncryption": "PutEncryptionConfiguration",
    "DeleteBucketLifecycle": "PutLifecycleConfiguration",
    "DeleteBucketOwnershipControls": "PutBucketOwnershipControls",
    "DeletePublicAccessBlock": "PutBucketPublicAccessBlock",
    "GetBucketAccelerateConfiguration": "GetAccelerateConfiguration",
    "GetBucketCors": "GetBucketCORS",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
    "GetBucketReplication": "GetReplicationConfiguration",
    "GetObjectLockConfiguration": "GetBucketObjectLockConfiguration",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "ListObjectVersions": "ListBucketVersions",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
}
BUDGETS = {"Describe": "ViewBudget", "Create": "ModifyBudget", "Delete": "ModifyBudget"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as IAM sees it."""

    action: str
    resource: str
    context: Mapping[str, str]


def as_call(recorded: Mapping[str, str], account: str, region: str) -> Call:
    service, operation = recorded["service"], recorded["operation"]
    if service == "s3":
        bucket = f"arn:aws:s3:::{recorded.get('Bucket', '')}"
        resource = f"{bucket}/{recorded['Key']}" if "Key" in recorded else bucket
        context = {"s3:prefix": recorded.get("Prefix", "")}
        return Call(f"s3:{S3_ACTIONS.get(operation, operation)}", resource, context)
    if service == "sqs":
        name = urlsplit(recorded.get("QueueUrl", "")).path.rpartition("/")[2]
        return Call(f"sqs:{operation}", f"arn:aws:sqs:{region}:{account}:{name}", {})
    return Call(f"{service}:{operation}", "*", {})


def as_deploy_action(recorded: Mapping[str, str]) -> str:
    """The action that a call of Terraform's needs."""
    service, operation = recorded["service"], recorded["operation"]
    if service == "s3":
        return f"s3:{S3_SETTINGS.get(operation, operation)}"
    if service == "budgets":
        verb = next((v for v in BUDGETS if operation.startswith(v)), "")
        return f"budgets:{BUDGETS.get(verb, operation)}"
    return f"{service}:{operation}"


def allows(statements: Iterable[Mapping[str, Any]], call: Call) -> bool:
    """Whether some statement allows it and none denies it."""
    effects = {s["Effect"] for s in statements if _applies(s, call)}
    return effects == {"Allow"}


def _applies(statement: Mapping[str, Any], call: Call) -> bool:
    return (
        any(fnmatchcase(call.action, pattern) for pattern in _listed(statement["Action"]))
        and any(fnmatchcase(call.resource, pattern) for pattern in _listed(statement["Resource"]))
        and all(
            _holds(test, key, _listed(wanted), call.context)
            for test, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def _holds(test: str, key: str, wanted: list[str], context: Mapping[str, str]) -> bool:
    came = context.get(key)
    if came is None:
        return False
    match test:
        case "StringEquals":
            return came in wanted
        case "StringLike" | "ArnLike":
            return any(fnmatchcase(came, pattern) for pattern in wanted)
        case _:
            raise AssertionError(f"a condition that this evaluator does not know: {test}")


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
