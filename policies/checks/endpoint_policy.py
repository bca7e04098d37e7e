"""Endpoints serve our own account, or our own resources."""

from collections.abc import Iterator
from typing import Any, Final

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.denial import condition_keys, is_everybody
from policies.reading.stack import Resource, literal
from policies.reading.statement import Statement, statements

LIMITS: Final = (
    "aws:principalaccount",
    "aws:principalarn",
    "aws:principalorgid",
    "aws:principalorgpaths",
    "aws:resourceaccount",
    "aws:resourceorgid",
    "aws:resourceorgpaths",
    "s3:resourceaccount",
)
_TESTS: Final = (
    "stringequals",
    "stringequalsignorecase",
    "stringlike",
    "arnequals",
    "arnlike",
    "foranyvalue:stringequals",
    "foranyvalue:stringlike",
)


class EndpointPolicy(Check):
    title = "An endpoint serves our own account's people or resources only"
    risk = "Whoever gets into a machine sends data to an account of his own through the endpoint."
    remedy = (
        "Write a policy that limits each Allow by aws:PrincipalAccount, or to named resources, "
        "with the functions of infra/network_plan.py."
    )
    source = "https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html"
    resources = ("aws_vpc_endpoint",)

    def faults(self, resource: Resource) -> Iterator[str]:
        policies = _policies(resource)
        if not policies:
            yield "there is no policy, so that AWS lets everything through"
        for policy in policies:
            for statement in statements(policy.conf.get("policy"), f"{policy.path}: policy"):
                if statement.allows and not _is_limited(statement):
                    yield (
                        f"a statement allows {', '.join(statement.actions)} on "
                        f"{', '.join(statement.resources)} to every account"
                    )


def _policies(endpoint: Resource) -> list[Resource]:
    if endpoint.conf.get("policy"):
        return [endpoint]
    return companions(endpoint, "aws_vpc_endpoint_policy", "vpc_endpoint_id")


def _is_limited(statement: Statement) -> bool:
    if statement.inverted:
        return _has_limit(statement)
    return (
        _is_somebody(statement.principal)
        or all(_is_named(resource) for resource in statement.resources)
        or _has_limit(statement)
    )


def _is_somebody(principal: Any) -> bool:
    return principal is not None and not is_everybody(principal)


def _is_named(resource: str) -> bool:
    """Whether an ARN says an account, or the start of a name: `arn:aws:s3:::*` says neither."""
    if resource.startswith("${aws_"):
        return True
    _, _, _, _, account, name = f"{literal(resource, 'Resource')}:::::".split(":", 5)
    return bool(account.strip("*?")) or bool(name.rstrip(":").lstrip("*?"))


def _has_limit(statement: Statement) -> bool:
    return any(
        test.lower() in _TESTS
        and key.lower() in LIMITS
        and all(value.strip("*?") for value in statement.condition(test, key))
        for test, key in condition_keys(statement)
    )
