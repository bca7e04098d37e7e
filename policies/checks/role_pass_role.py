"""Roles are handed on by name, and to named services."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.roles import is_wild, spelled
from policies.reading.stack import Resource, literal
from policies.reading.statement import GRANTS, Statement, granted

KEY = "iam:PassedToService"


class PassRole(Check):
    title = "iam:PassRole names the roles, and the services that they are passed to"
    risk = "Whoever may pass any role to a job is as mighty as the mightiest role of the account."
    remedy = (
        "Name the roles one by one, with StringEquals on iam:PassedToService, in "
        "infra/pipeline_access.py."
    )
    source = "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html"
    resources = GRANTS

    def faults(self, resource: Resource) -> Iterator[str]:
        for statement in granted(resource):
            if statement.touches("iam:PassRole") or statement.inverted:
                for pattern in statement.resources:
                    if is_wild(spelled(pattern, resource)):
                        yield f"iam:PassRole is allowed on {pattern}, must name roles"
                yield from _service_faults(statement)


def _service_faults(statement: Statement) -> Iterator[str]:
    services = statement.condition("StringEquals", KEY)
    if not services:
        yield f"iam:PassRole has no StringEquals on {KEY}"
    for service in services:
        if is_wild(str(literal(service, KEY))):
            yield f"iam:PassRole is allowed for {KEY} {service}, must name services"
