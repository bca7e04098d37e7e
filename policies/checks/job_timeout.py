"""A job ends in the end."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import Resource
from policies.reading.value import number

SHORTEST: Final = 60
"""What AWS Batch takes."""


class Timeout(Check):
    title = "A job is ended when its time is over"
    risk = "A worker that hangs keeps its GPU, and its price, until somebody looks."
    remedy = "Set timeout in infra/constructs/inference_job.py; its value is the deadline's."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html"
    resources = ("aws_batch_job_definition",)
    chosen_by = "deadline"

    def faults(self, resource: Resource) -> Iterator[str]:
        what = "timeout.attempt_duration_seconds"
        seconds = resource.block("timeout").get("attempt_duration_seconds")
        if seconds is None:
            yield f"{what} is not set"
        elif number(seconds, what) < SHORTEST:
            yield f"{what} is {seconds}, must be at least {SHORTEST}"
