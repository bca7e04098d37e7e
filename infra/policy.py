"""IAM statements as values: what a grant says, before any role exists."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Conditions = Mapping[str, Mapping[str, str | list[str]]]


@dataclass(frozen=True, slots=True)
class Statement:
    """Allows actions on resources. `*` as a resource takes a reason, in words."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Conditions = field(default_factory=dict)
    reason: str = ""

    def __post_init__(self) -> None:
        if "*" in self.resources and not self.reason:
            raise ValueError(f"{', '.join(self.actions)} on every resource needs a reason")

    def as_json(self) -> dict[str, Any]:
        rendered: dict[str, Any] = {
            "Effect": "Allow",
            "Action": list(self.actions),
            "Resource": list(self.resources),
        }
        if self.conditions:
            rendered["Condition"] = {test: dict(values) for test, values in self.conditions.items()}
        return rendered


def document(statements: Iterable[Statement | Mapping[str, Any]]) -> str:
    """A policy document; a mapping is a statement that is rendered already."""
    rendered = [s.as_json() if isinstance(s, Statement) else dict(s) for s in statements]
    return json.dumps({"Version": "2012-10-17", "Statement": rendered}, separators=(",", ":"))


def trust_service(service: str, account: str, *, confused_deputy: bool = True) -> str:
    """Who may take a role: an AWS service, for this account only."""
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    if confused_deputy:
        statement["Condition"] = {"StringEquals": {"aws:SourceAccount": account}}
    return document([statement])


def trust_account(account: str) -> str:
    """Whom the account's administrators let take the role."""
    return document(
        [
            {
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
                "Action": "sts:AssumeRole",
            }
        ]
    )


def trust_token(account: str, issuer: str, audience: str, subject: str) -> str:
    """A pipeline that proves who it is by a token of exactly this subject."""
    return document(
        [
            {
                "Effect": "Allow",
                "Principal": {"Federated": f"arn:aws:iam::{account}:oidc-provider/{issuer}"},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {
                    "StringEquals": {f"{issuer}:aud": audience, f"{issuer}:sub": subject}
                },
            }
        ]
    )
