"""Jobs delete nothing that is kept."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.roles import job_role
from policies.reading.stack import Resource, literal
from policies.reading.statement import allowed, overlap

ALLOWED: Final = "sqs:DeleteMessage"
"""How a worker says that a shard is done."""
FORBIDDEN: Final = (
    "*:Delete*",
    "*:Purge*",
    "*:Schedule*Deletion",
    "*:Disable*",
    "*:Put*Policy",
    "*:Set*Attributes",
    "logs:PutRetention*",
    "s3:BypassGovernanceRetention",
    "s3:PutBucket*",
    "s3:PutEncryption*",
    "s3:PutLifecycle*",
    "s3:PutObjectAcl",
    "s3:PutObjectRetention",
)


class JobNoDelete(Check):
    title = "A job's role can't delete anything but its messages, nor change policies"
    risk = "A worker that is taken over, or has a fault, wipes out inputs, results or their keys."
    remedy = (
        "Grant by grant_read and grant_write of infra/constructs/object_area.py and grant_consume "
        "of infra/constructs/work_queue.py; cleaning up is the lifecycle rules' work."
    )
    source = "https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        role = job_role(resource)
        if role is None:
            return
        for source, statement in allowed(role):
            for action in statement.actions:
                if _is_forbidden(str(literal(action, "Action"))):
                    yield f"{source.path} allows {action} to {role.path}"


def _is_forbidden(action: str) -> bool:
    return action.lower() != ALLOWED.lower() and any(
        _meets(action.lower(), forbidden.lower()) for forbidden in FORBIDDEN
    )


def _meets(action: str, forbidden: str) -> bool:
    """Service and name apart: the * of one doesn't reach into the other."""
    if ":" not in action:
        return overlap(action, forbidden)
    pairs = zip(action.split(":", 1), forbidden.split(":", 1), strict=True)
    return all(overlap(one, other) for one, other in pairs)
