"""A scheduled run starts soon or not at all, and as a role that is named."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.roles import is_wild, spelled
from policies.reading.stack import Resource, blocks
from policies.reading.value import number

LATEST: Final = "maximum_event_age_in_seconds"
DEFAULT_AGE: Final = 86_400
DEFAULT_ATTEMPTS: Final = 185


class ScheduleRetry(Check):
    title = "A schedule tries again, but not for a day, and starts runs as a named role"
    risk = (
        "One refused call loses a night's run; a call that is repeated for a day starts it at noon."
    )
    remedy = "Set role_arn and retry_policy of the target in infra/stacks/schedule.py."
    source = "https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html"
    resources = ("aws_scheduler_schedule",)
    chosen_by = "schedule"

    def faults(self, resource: Resource) -> Iterator[str]:
        target = resource.block("target")
        role = target.get("role_arn")
        if not role or is_wild(spelled(str(role), resource)):
            yield f"target.role_arn is {role or 'not set'}, must name a role"
        retry = next(iter(blocks(target, "retry_policy")), {})
        attempts = retry.get("maximum_retry_attempts", DEFAULT_ATTEMPTS)
        if number(attempts, "maximum_retry_attempts") < 1:
            yield f"target.retry_policy.maximum_retry_attempts is {attempts}, must be 1 or more"
        age = retry.get(LATEST, DEFAULT_AGE)
        if number(age, LATEST) >= DEFAULT_AGE:
            yield f"target.retry_policy.{LATEST} is {age}, must be less than {DEFAULT_AGE}"
