"""IAM policy documents as the checks read them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from policies.stack import CannotTellError, Resource, Stack, parsed

ROLE_POLICIES: Final = ("aws_iam_role_policy", "aws_iam_policy")
"""What gives permissions to roles, as a document in `policy`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; single values are lists here, conditions as they stand."""

    allows: bool
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Any]]
    principal: Any
    sid: str
    inverted: bool
    """It has NotAction, NotResource or NotPrincipal."""

    def covers(self, action: str) -> bool:
        """Whether the actions match `action`. IAM compares without case, with * and ?."""
        return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in self.actions)

    def condition(self, test: str, key: str) -> tuple[str, ...]:
        """Values of one condition; empty where it isn't set. Keys compare without case."""
        for name, values in self.conditions.items():
            if name.lower() == test.lower():
                for candidate, value in values.items():
                    if candidate.lower() == key.lower():
                        return _texts(value)
        return ()


def statements(text: object, what: str) -> tuple[Statement, ...]:
    """Of a document, as JSON text. Raises CannotTellError where it can't be read."""
    document = parsed(text, what)
    if not isinstance(document, Mapping):
        raise CannotTellError(f"{what} is no policy document")
    found = document.get("Statement", [])
    return tuple(_statement(s, what) for s in (found if isinstance(found, list) else [found]))


def role_statements(role: Resource) -> Iterator[tuple[Resource, Statement]]:
    """All that a role gets in its stack's app: inline, and by policies that are attached.

    Raises CannotTellError where a policy is attached whose text is not here.
    """
    for inline in role.app.resources("aws_iam_role_policy"):
        if means(inline.conf.get("role"), role, inline.stack):
            for statement in statements(inline.conf.get("policy"), f"{inline.path}: policy"):
                yield inline, statement
    for attached in role.app.resources("aws_iam_role_policy_attachment"):
        if means(attached.conf.get("role"), role, attached.stack):
            policy = role.app.target(attached.conf.get("policy_arn"), attached.stack)
            if policy is None:
                raise CannotTellError(
                    f"{attached.path} attaches {attached.conf.get('policy_arn')}, "
                    "whose text is not in these stacks"
                )
            for statement in statements(policy.conf.get("policy"), f"{policy.path}: policy"):
                yield policy, statement


def means(reference: object, role: Resource, stack: Stack) -> bool:
    """Whether `reference` in `stack` is this role: by attribute, by name or by ARN."""
    target = role.app.target(reference, stack)
    if target is not None:
        return target.address == role.address and target.stack is role.stack
    name = role.conf.get("name")
    return name is not None and str(reference).rpartition("/")[2] == name


def _statement(raw: Any, what: str) -> Statement:
    if not isinstance(raw, Mapping):
        raise CannotTellError(f"{what} has a statement that is {raw!r}")
    return Statement(
        allows=raw.get("Effect") == "Allow",
        actions=_texts(raw.get("Action", raw.get("NotAction", []))),
        resources=_texts(raw.get("Resource", raw.get("NotResource", []))),
        conditions=raw.get("Condition", {}),
        principal=raw.get("Principal", raw.get("NotPrincipal")),
        sid=raw.get("Sid", ""),
        inverted=any(name in raw for name in ("NotAction", "NotResource", "NotPrincipal")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(v) for v in value) if isinstance(value, list) else (str(value),)
