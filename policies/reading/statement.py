"""IAM policy documents as the checks read them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from policies.reading.stack import CannotTellError, Resource, Stack, parsed

ROLE_POLICIES: Final = ("aws_iam_role_policy", "aws_iam_policy")
"""What gives permissions to roles, as a document in `policy`."""
GRANTS: Final = (*ROLE_POLICIES, "aws_iam_role")
"""Those, and roles with policies inside."""


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

    def touches(self, wanted: str) -> bool:
        """Whether some action matches both `wanted`, a pattern, and one of the actions."""
        return any(overlap(wanted.lower(), pattern.lower()) for pattern in self.actions)

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


def granted(resource: Resource) -> Iterator[Statement]:
    """What one resource of GRANTS allows. Raises CannotTellError where it can't be read."""
    if resource.type == "aws_iam_role":
        texts = [block["policy"] for block in resource.blocks("inline_policy") if "policy" in block]
    else:
        texts = [resource.conf.get("policy")]
    for text in texts:
        yield from (s for s in statements(text, f"{resource.path}: policy") if s.allows)


def allowed(role: Resource) -> Iterator[tuple[Resource, Statement]]:
    """All that a role is allowed, and by which resource.

    Raises CannotTellError where that can't be seen, or is told by what it is not.
    """
    for source, statement in role_statements(role):
        if statement.allows and statement.inverted:
            raise CannotTellError(
                f"{source.path} allows all but something (NotAction, NotResource)"
            )
        if statement.allows:
            yield source, statement


def overlap(one: str, other: str) -> bool:
    """Whether some text matches both patterns of * and ?."""
    seen: set[tuple[int, int]] = set()
    todo = [(0, 0)]
    while todo:
        i, j = todo.pop()
        if (i, j) in seen:
            continue
        seen.add((i, j))
        a, b = one[i : i + 1], other[j : j + 1]
        if not a and not b:
            return True
        if a == "*":
            todo += [(i + 1, j)] + ([(i, j + 1)] if b else [])
        if b == "*":
            todo += [(i, j + 1)] + ([(i + 1, j)] if a else [])
        if a and b and (a == b or "?" in (a, b)):
            todo.append((i + 1, j + 1))
    return False


def role_statements(role: Resource) -> Iterator[tuple[Resource, Statement]]:
    """All that a role gets in its stack's app: inline, and by policies that are attached.

    Raises CannotTellError where a policy is attached whose text is not here, or to whom can't be
    seen.
    """
    for statement in granted(role):
        yield role, statement
    for arn in role.conf.get("managed_policy_arns") or ():
        yield from _attached(role, role, arn)
    for inline in role.app.resources("aws_iam_role_policy"):
        if _is_for(role, inline, inline.conf.get("role")):
            for statement in statements(inline.conf.get("policy"), f"{inline.path}: policy"):
                yield inline, statement
    for attached in role.app.resources("aws_iam_role_policy_attachment"):
        if _is_for(role, attached, attached.conf.get("role")):
            yield from _attached(role, attached, attached.conf.get("policy_arn"))
    for several in role.app.resources("aws_iam_policy_attachment"):
        if any(_is_for(role, several, reference) for reference in several.conf.get("roles") or ()):
            yield from _attached(role, several, several.conf.get("policy_arn"))


def means(reference: object, role: Resource, stack: Stack) -> bool:
    """Whether `reference` in `stack` is this role: by attribute, by name or by ARN."""
    target = role.app.target(reference, stack)
    if target is not None:
        return target.address == role.address and target.stack is role.stack
    name = role.conf.get("name")
    return name is not None and str(reference).rpartition("/")[2] == name


def _is_for(role: Resource, grant: Resource, reference: object) -> bool:
    if "${" in str(reference) and role.app.target(reference, grant.stack) is None:
        raise CannotTellError(f"{grant.path} is for {reference}, which is not in these stacks")
    return means(reference, role, grant.stack)


def _attached(role: Resource, by: Resource, arn: object) -> Iterator[tuple[Resource, Statement]]:
    policy = role.app.target(arn, by.stack)
    if policy is None:
        raise CannotTellError(f"{by.path} attaches {arn}, whose text is not in these stacks")
    for statement in statements(policy.conf.get("policy"), f"{policy.path}: policy"):
        yield policy, statement


def _statement(raw: Any, what: str) -> Statement:
    if not isinstance(raw, Mapping):
        raise CannotTellError(f"{what} has a statement that is {raw!r}")
    if raw.get("Effect") not in ("Allow", "Deny"):
        raise CannotTellError(f"{what} has a statement whose Effect is {raw.get('Effect')!r}")
    conditions = raw.get("Condition") or {}
    if not isinstance(conditions, Mapping) or not all(
        isinstance(keys, Mapping) for keys in conditions.values()
    ):
        raise CannotTellError(f"{what} has a statement whose Condition is {conditions!r}")
    return Statement(
        allows=raw.get("Effect") == "Allow",
        actions=_texts(raw.get("Action", raw.get("NotAction", []))),
        resources=_texts(raw.get("Resource", raw.get("NotResource", []))),
        conditions=conditions,
        principal=raw.get("Principal", raw.get("NotPrincipal")),
        sid=raw.get("Sid", ""),
        inverted=any(name in raw for name in ("NotAction", "NotResource", "NotPrincipal")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(v) for v in value) if isinstance(value, list) else (str(value),)
