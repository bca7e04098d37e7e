"""Who submits jobs starts what was reviewed, and changes nothing of it."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.roles import is_pipeline, is_wild, spelled, submissions
from policies.reading.stack import Resource
from policies.reading.statement import allowed, overlap

CHANGES: Final = (
    *(f"batch:{verb}*" for verb in ("Register", "Deregister", "Create", "Update", "Delete")),
    *(f"iam:{verb}*" for verb in ("Create", "Put", "Attach", "Detach", "Update", "Delete", "Add")),
    "iam:PassRole",
)
ANY_REVISION: Final = ":*"
"""What may follow the name of a definition."""
ANY_JOB: Final = ":job/*"
"""The job that comes to be: it has no name before."""


class Submitter(Check):
    title = "Who submits jobs names definitions and queues, and can't change them"
    risk = "A job is what its definition says: whoever registers one, or picks any, runs anything."
    remedy = (
        "Grant by grant_submit of infra/constructs/job_grants.py, with the queue and the "
        "definitions by name; only the pipeline's role makes any."
    )
    source = "https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html"
    resources = ("aws_iam_role",)

    def faults(self, resource: Resource) -> Iterator[str]:
        submitting = list(submissions(resource))
        if submitting and not is_pipeline(resource):
            for source, statement in allowed(resource):
                for action in filter(_is_change, statement.actions):
                    yield f"{source.path} allows {action} to a role that submits jobs"
        for source, statement in submitting:
            for pattern in statement.resources:
                if not _is_named(spelled(pattern, source)):
                    yield f"{source.path} allows batch:SubmitJob on {pattern}, must name it"


def _is_change(action: str) -> bool:
    return any(overlap(action.lower(), change.lower()) for change in CHANGES)


def _is_named(pattern: str) -> bool:
    if pattern.endswith(ANY_JOB):
        return True
    if "job-definition/" in pattern:
        pattern = pattern.removesuffix(ANY_REVISION)
    return not is_wild(pattern)
