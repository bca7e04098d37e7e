"""What a role may do is limited to resources that are named."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.roles import head, is_wild, spelled
from policies.reading.stack import Resource
from policies.reading.statement import GRANTS, Statement, granted
from policies.reading.unlimited_actions import UNLIMITED

_UNLIMITED: Final = {action.lower() for action in UNLIMITED}
_EXACT: Final = ("stringequals", "arnequals")
_NARROWING: Final = (
    "aws:requesttag/",
    "aws:resourcetag/",
    "batch:",
    "ec2:",
    "iam:permissionsbound",
)
_NOT_NARROWING: Final = ("ec2:region",)


class NamedResources(Check):
    """Every resource may be meant where AWS knows no resource for the action, or where a condition
    narrows it: by a tag of the request or of the resource, a key of AWS Batch or EC2, or the
    permissions boundary, each equal to something known."""

    title = "A role may act on named resources only"
    risk = "A worker or a pipeline that is taken over reaches all that the account holds."
    remedy = (
        "Name the resources of the Statement in infra/, or limit it by a condition on a tag; an "
        "action that knows no resources belongs into policies/reading/unlimited_actions.py."
    )
    source = (
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html"
    )
    resources = GRANTS

    def faults(self, resource: Resource) -> Iterator[str]:
        for statement in granted(resource):
            if statement.inverted:
                yield "a statement allows all but what it names (NotAction, NotResource)"
                continue
            limitable = [a for a in statement.actions if a.lower() not in _UNLIMITED]
            if not limitable or _is_narrow(statement):
                continue
            for pattern in statement.resources:
                if _is_everything(spelled(pattern, resource)):
                    yield f"{', '.join(limitable)} is allowed on {pattern}"


def _is_narrow(statement: Statement) -> bool:
    for test, keys in statement.conditions.items():
        for key in keys:
            values = statement.condition(test, key)
            if (
                test.lower() in _EXACT
                and key.lower().startswith(_NARROWING)
                and key.lower() not in _NOT_NARROWING
                and values
                and not any(is_wild(value) or "${" in value for value in values)
            ):
                return True
    return False


def _is_everything(pattern: str) -> bool:
    """An ARN is more than * by its account and a name; of S3's, which lack an account, by a name
    that begins with something."""
    if not pattern.startswith("arn:") or pattern.count(":") < 5:
        return is_wild(pattern)
    _, _, service, _, account, name = pattern.split(":", 5)
    if is_wild(service):
        return True
    return is_wild(name) if is_wild(account) else not account and not head(name)
