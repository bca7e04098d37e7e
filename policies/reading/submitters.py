"""Who may submit to a job queue, as far as the roles of the stacks say."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from policies.reading.companion import is_same
from policies.reading.container import container, entry
from policies.reading.provider import TEAM, default_tags
from policies.reading.roles import submissions
from policies.reading.stack import CannotTellError, Resource, Stack, literal
from policies.reading.statement import Statement, means

WHERE: Final = "Resource of batch:SubmitJob"


def submitting_teams(queue: Resource) -> dict[str, str]:
    """Team -> path of a role by which it may submit.

    A role submits for the team of its stack and for those whose jobs run as it. Raises
    CannotTellError where a role that may submit belongs to nobody, or what it may can't be seen.
    """
    found: dict[str, str] = {}
    for role in queue.app.resources("aws_iam_role"):
        if _may_submit(role, queue):
            for team in _teams(role):
                found.setdefault(team, role.path)
    return found


def _may_submit(role: Resource, queue: Resource) -> bool:
    return any(_reaches(statement, queue, by.stack) for by, statement in submissions(role))


def _reaches(statement: Statement, queue: Resource, stack: Stack) -> bool:
    return any(_is_queue(pattern, queue, stack) for pattern in statement.resources)


def _is_queue(pattern: str, queue: Resource, stack: Stack) -> bool:
    """By reference or as an ARN with * and ?, of whatever region and account."""
    target = queue.app.target(pattern, stack)
    if target is not None:
        return is_same(target, queue)
    tail = f"job-queue/{literal(queue.conf.get('name'), 'name')}"
    _, *parts = pattern.split(":", 5)
    if len(parts) < 5:
        return fnmatchcase(f"arn:aws:batch:::{tail}", str(literal(pattern, WHERE)))
    service, named = parts[1], str(literal(parts[4], WHERE))
    return fnmatchcase("batch", service) and fnmatchcase(tail, named)


def _teams(role: Resource) -> set[str]:
    found = {_team(role), *(_team(definition) for definition in _run_as(role))} - {""}
    if not found:
        raise CannotTellError(f"{role.path} may submit, but neither it nor its stack has {TEAM}")
    return found


def _run_as(role: Resource) -> Iterator[Resource]:
    for definition in role.app.resources("aws_batch_job_definition"):
        if means(entry(container(definition), "jobRoleArn"), role, definition.stack):
            yield definition


def _team(resource: Resource) -> str:
    """By its own tag, else by its stack's; empty: neither has one."""
    own = resource.block("tags").get(TEAM)
    return str(literal(own or default_tags(resource.stack).get(TEAM) or "", TEAM))
