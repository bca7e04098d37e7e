"""A role submits and stops jobs as its own team only."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.provider import BLUEPRINT, TEAM, default_tags
from policies.reading.roles import is_pipeline, is_wild, spelled, submissions
from policies.reading.stack import CannotTellError, Resource, literal
from policies.reading.statement import Statement, allowed, means, overlap

SHARE: Final = "batch:ShareIdentifier"
STOPPING: Final = ("batch:TerminateJob", "batch:CancelJob")


class SubmitterShare(Check):
    title = "A role submits jobs within its team's share and under its team's tags"
    risk = "One team takes the other's share of the machines, or lets it pay."
    remedy = (
        "Grant by grant_submit of infra/constructs/job_grants.py, as infra/stacks/access.py does: "
        "it asks for the share and the tags."
    )
    source = "https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html"
    resources = ("aws_iam_role",)

    def faults(self, resource: Resource) -> Iterator[str]:
        submitting = list(submissions(resource))
        if not submitting or is_pipeline(resource):
            return
        for source, statement in submitting:
            for tag in (BLUEPRINT, TEAM):
                yield from _tag_faults(resource, source, statement, "aws:RequestTag", tag)
            if _is_shared(source, statement):
                yield from _share_faults(source, statement)
        for source, statement in allowed(resource):
            if any(statement.touches(action) for action in STOPPING):
                yield from _tag_faults(resource, source, statement, "aws:ResourceTag", BLUEPRINT)


def _tag_faults(
    role: Resource, source: Resource, statement: Statement, key: str, tag: str
) -> Iterator[str]:
    wanted = literal(default_tags(role.stack).get(tag), tag)
    if not wanted:
        raise CannotTellError(f"{role.stack.name}: its default_tags lack {tag}")
    found = statement.condition("StringEquals", f"{key}/{tag}")
    if found != (wanted,):
        told = ", ".join(found) or "not demanded"
        yield f"{source.path}: {key}/{tag} is {told}, must be {wanted} by StringEquals"


def _share_faults(source: Resource, statement: Statement) -> Iterator[str]:
    shares = statement.condition("StringEquals", SHARE)
    if not shares:
        yield f"{source.path}: {SHARE} is not demanded by StringEquals"
    for share in shares:
        if is_wild(str(literal(share, SHARE))):
            yield f"{source.path}: {SHARE} is {share}, must be the team's"


def _is_shared(source: Resource, statement: Statement) -> bool:
    """Whether a queue with shares is among what may be submitted to."""
    shared = False
    for pattern in statement.resources:
        kind_and_name = spelled(pattern, source).split(":", 5)[-1]
        queues = [
            queue
            for queue in source.app.resources("aws_batch_job_queue")
            if means(pattern, queue, source.stack)
            or overlap(kind_and_name, f"job-queue/{queue.conf.get('name')}")
        ]
        if not queues and kind_and_name.startswith("job-queue/"):
            raise CannotTellError(f"{source.path} names {pattern}, which is not in these stacks")
        shared |= any(queue.conf.get("scheduling_policy_arn") for queue in queues)
    return shared
