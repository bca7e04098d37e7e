"""Who makes roles can't make mightier ones."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.provider import BLUEPRINT, PLATFORM, default_tags
from policies.reading.roles import head, is_wild, spelled
from policies.reading.stack import App, Resource, literal
from policies.reading.statement import GRANTS, Statement, granted

CHANGES: Final = (
    "iam:CreateRole",
    "iam:AttachRolePolicy",
    "iam:DeleteRolePermissionsBoundary",
    "iam:PutRolePermissionsBoundary",
    "iam:PutRolePolicy",
    "iam:UpdateAssumeRolePolicy",
)
KEY: Final = "iam:PermissionsBoundary"
ROLE: Final = ":role/"


class Boundary(Check):
    """Without a boundary on the platform, roles may be changed where their names are its own."""

    title = "Roles stay within the permissions boundary, and who makes roles can't leave it"
    risk = "A pipeline that may make any role may make itself an administrator."
    remedy = (
        "Set permissions_boundary in platform.yaml; infra/pipeline_access.py asks for it by "
        "StringEquals on iam:PermissionsBoundary, and infra/constructs/role.py gives it to roles."
    )
    source = "https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html"
    resources = GRANTS

    def faults(self, resource: Resource) -> Iterator[str]:
        bounded = _has_boundary(resource.app)
        lacks = not resource.conf.get("permissions_boundary")
        if resource.type == "aws_iam_role" and bounded and lacks:
            yield "permissions_boundary is not set, though other roles have one"
        for statement in granted(resource):
            changes = [change for change in CHANGES if statement.touches(change)]
            if changes or statement.inverted:
                told = ", ".join(changes) or "what is not named"
                for fault in _faults(resource, statement, bounded=bounded):
                    yield f"{told} {fault}"


def _faults(resource: Resource, statement: Statement, *, bounded: bool) -> Iterator[str]:
    boundaries = statement.condition("StringEquals", KEY)
    for boundary in boundaries:
        if is_wild(str(literal(boundary, KEY))):
            yield f"is allowed with {KEY} {boundary}, must be one policy"
    if boundaries:
        return
    if bounded:
        yield f"is allowed without StringEquals on {KEY}, though roles have a boundary"
    names = _names(resource.app)
    for pattern in statement.resources:
        start = head(spelled(pattern, resource).rpartition(ROLE)[2])
        if not any(start == name or start.startswith(f"{name}-") for name in names):
            yield f"is allowed on {pattern}, must be limited to roles of this platform"


def _has_boundary(app: App) -> bool:
    return any(role.conf.get("permissions_boundary") for role in app.resources("aws_iam_role"))


def _names(app: App) -> set[str]:
    """By which roles of the platform begin."""
    tags = [default_tags(stack) for stack in app.stacks.values()]
    return {str(t[name]) for t in tags for name in (BLUEPRINT, PLATFORM) if t.get(name)}
