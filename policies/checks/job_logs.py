"""A job's log goes where the stacks keep it."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.companion import is_meant
from policies.reading.container import container, entry, section
from policies.reading.stack import Resource, literal

GROUP: Final = "awslogs-group"


class JobLogs(Check):
    title = "A job logs into a log group that the stacks make"
    risk = "The log lands in a group that is shared with everybody, kept for ever, or nowhere."
    remedy = "Take logs_to() of infra/constructs/inference_job.py, with the team's log group."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/using_awslogs.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        log = section(container(resource), "logConfiguration")
        driver = literal(entry(log, "logDriver"), "logConfiguration.logDriver")
        if driver != "awslogs":
            yield f"logConfiguration.logDriver is {driver or 'not set'}, must be awslogs"
            return
        group = section(log, "options").get(GROUP)
        groups = list(resource.app.resources("aws_cloudwatch_log_group"))
        if not any(is_meant(made, group, resource.stack) for made in groups):
            named = literal(group, GROUP) or "not set"
            yield f"{GROUP} is {named}, which no stack makes"
