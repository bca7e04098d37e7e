"""Who a role is: what takes it, and what may be done with it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from policies.reading.companion import own_name
from policies.reading.container import container, entry
from policies.reading.stack import CannotTellError, Resource
from policies.reading.statement import Statement, allowed, means, statements

_WILD: Final = re.compile(r"[*?]")
_TOKEN: Final = re.compile(r"\$\{[^}]+\}")


def is_wild(text: str) -> bool:
    return bool(_WILD.search(text))


def head(pattern: str) -> str:
    """What stands before the first * or ?."""
    return _WILD.split(pattern, maxsplit=1)[0]


def spelled(pattern: str, by: Resource) -> str:
    """`pattern` with the name of what it refers to for each reference.

    Raises CannotTellError where a reference leads out of these stacks.
    """

    def name(token: re.Match[str]) -> str:
        target = by.app.target(token[0], by.stack)
        if target is None:
            raise CannotTellError(f"{by.path} names {pattern}, which is not in these stacks")
        return str(own_name(target) or target.address)

    return _TOKEN.sub(name, pattern)


def is_pipeline(role: Resource) -> bool:
    """Taken by a token that proves who asks, as a pipeline's is."""
    trust = statements(role.conf.get("assume_role_policy"), "assume_role_policy")
    return any(
        statement.allows
        and statement.covers("sts:AssumeRoleWithWebIdentity")
        and isinstance(statement.principal, Mapping)
        and "Federated" in statement.principal
        for statement in trust
    )


def job_role(definition: Resource) -> Resource | None:
    """The role that a definition's containers have; None: they have none.

    Raises CannotTellError where it names one that is not in these stacks.
    """
    reference = entry(container(definition), "jobRoleArn")
    if not reference:
        return None
    for role in definition.app.resources("aws_iam_role"):
        if means(reference, role, definition.stack):
            return role
    raise CannotTellError(f"jobRoleArn is {reference}, which is not in these stacks")


def submissions(role: Resource) -> Iterator[tuple[Resource, Statement]]:
    """What lets a role submit jobs, and by which resource."""
    for source, statement in allowed(role):
        if statement.touches("batch:SubmitJob"):
            yield source, statement
