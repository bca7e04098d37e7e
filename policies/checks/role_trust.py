"""Roles are taken by those that they are for."""

from collections.abc import Iterator, Mapping
from typing import Final

from policies.check import Check
from policies.reading.provider import accounts
from policies.reading.roles import is_wild
from policies.reading.stack import CannotTellError, Resource, literal
from policies.reading.statement import Statement, statements

MACHINES: Final = ("ec2.amazonaws.com", "ec2.amazonaws.com.cn")
"""EC2 doesn't say for which account it asks; it can only be the role's own."""
ISSUER: Final = ":oidc-provider/"


class Trust(Check):
    title = "A role is taken by its own account, a service for this account, or one token's subject"
    risk = "A role that others can take gives them all that it may do."
    remedy = "Take trust_service, trust_account or trust_token of infra/policy.py."
    source = "https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html"
    resources = ("aws_iam_role",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for statement in statements(resource.conf.get("assume_role_policy"), "assume_role_policy"):
            if not statement.allows:
                continue
            if statement.inverted:
                yield "assume_role_policy trusts all but some (NotPrincipal, NotAction)"
            for kind, principal in _principals(statement):
                if is_wild(principal):
                    yield f"assume_role_policy trusts {kind} {principal}, must name who it is"
                elif kind == "Service":
                    yield from _service_faults(resource, statement, principal)
                elif kind == "Federated":
                    yield from _token_faults(resource, statement, principal)
                elif kind == "AWS":
                    yield from _account_faults(resource, principal)
                else:
                    raise CannotTellError(f"assume_role_policy trusts {kind} {principal}")


def _principals(statement: Statement) -> Iterator[tuple[str, str]]:
    named = statement.principal
    if isinstance(named, str):
        named = {"AWS": named}
    if not isinstance(named, Mapping):
        raise CannotTellError(f"assume_role_policy trusts {named!r}")
    for kind, principals in named.items():
        for principal in principals if isinstance(principals, list) else [principals]:
            yield kind, str(principal)


def _service_faults(role: Resource, statement: Statement, service: str) -> Iterator[str]:
    if literal(service, "Principal.Service") in MACHINES:
        return
    asked = [
        *statement.condition("StringEquals", "aws:SourceAccount"),
        *(
            arn.split(":", 5)[4] if arn.count(":") >= 5 else arn
            for test in ("StringEquals", "StringLike", "ArnEquals", "ArnLike")
            for arn in statement.condition(test, "aws:SourceArn")
        ),
    ]
    if not asked:
        yield f"{service} is trusted without aws:SourceAccount or aws:SourceArn"
    for account in asked:
        if literal(account, "aws:SourceAccount") not in accounts(role.stack):
            yield f"{service} is trusted for account {account}, which is not this one"


def _token_faults(role: Resource, statement: Statement, principal: str) -> Iterator[str]:
    issuer = _issuer(role, principal)
    for claim in ("sub", "aud"):
        values = statement.condition("StringEquals", f"{issuer}:{claim}")
        if not values:
            yield f"tokens of {issuer} are trusted without StringEquals on {issuer}:{claim}"
        for value in values:
            if is_wild(str(literal(value, f"{issuer}:{claim}"))):
                yield f"{issuer}:{claim} is {value}, must be exact"


def _issuer(role: Resource, principal: str) -> str:
    provider = role.app.target(principal, role.stack)
    if provider is not None:
        principal = str(provider.conf.get("url")).removeprefix("https://")
    return str(literal(principal, "Principal.Federated")).rpartition(ISSUER)[2]


def _account_faults(role: Resource, principal: str) -> Iterator[str]:
    known = str(literal(principal, "Principal.AWS"))
    account = known.split(":")[4] if known.count(":") >= 5 else known
    if not account.isdigit():
        raise CannotTellError(f"assume_role_policy trusts {principal}, whose account can't be seen")
    if account not in accounts(role.stack):
        yield f"assume_role_policy trusts {principal}, which is of another account"
