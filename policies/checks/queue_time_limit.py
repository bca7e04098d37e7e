"""A job that can't start doesn't wait for ever."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import Resource, literal

REASONS: Final = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
)


class TimeLimit(Check):
    title = "A job that can't start is cancelled after a while"
    risk = "The job at the head of the queue waits for ever, and all jobs behind it with it."
    remedy = (
        "Give the queue a job_state_time_limit_action for each reason: job_queue() of "
        "infra/constructs/gpu_queue.py does."
    )
    source = "https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html"
    resources = ("aws_batch_job_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        limits = resource.blocks("job_state_time_limit_action")
        cancelled = {_said(limit, "reason") for limit in limits if _cancels(limit)}
        for reason in REASONS:
            if reason not in cancelled:
                yield f"no job_state_time_limit_action cancels RUNNABLE jobs for {reason}"


def _cancels(limit: Mapping[str, Any]) -> bool:
    return _said(limit, "action").upper() == "CANCEL" and _said(limit, "state") == "RUNNABLE"


def _said(limit: Mapping[str, Any], name: str) -> str:
    return str(literal(limit.get(name), f"job_state_time_limit_action.{name}"))
