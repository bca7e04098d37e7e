"""A failure that nobody foresaw isn't tried again."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import Resource, blocks, literal

CONDITIONS: Final = ("on_exit_code", "on_reason", "on_status_reason")
ALWAYS_KNOWN: Final = ("on_reason", "on_status_reason")
"""A job that ended without starting its container has no exit code."""


class RetryExit(Check):
    title = "A failure that no retry rule knows ends the job"
    risk = (
        "AWS Batch starts a job again that no rule matches: a fault in the code costs ten starts."
    )
    remedy = "Render the retry rules from infra/retries.py, whose last one matches everything."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        rules = blocks(resource.block("retry_strategy"), "evaluate_on_exit")
        if not rules:
            yield "retry_strategy.evaluate_on_exit is not set"
            return
        *earlier, last = rules
        for number, rule in enumerate(earlier, start=1):
            if _is_for_all(rule):
                yield f"retry rule {number} matches everything, so that none after it counts"
        if _said(last, "action").upper() != "EXIT":
            yield f"the last retry rule has action {_said(last, 'action')}, must be EXIT"
        if not _is_for_all(last) or not any(_said(last, name) for name in ALWAYS_KNOWN):
            only = _conditions(last) or "nothing"
            yield f"the last retry rule is for {only}, must be for on_reason *"


def _is_for_all(rule: Mapping[str, Any]) -> bool:
    return set(_conditions(rule).values()) <= {"*"}


def _conditions(rule: Mapping[str, Any]) -> dict[str, str]:
    return {name: _said(rule, name) for name in CONDITIONS if _said(rule, name)}


def _said(rule: Mapping[str, Any], name: str) -> str:
    value = rule.get(name)
    return "" if value is None else str(literal(value, f"evaluate_on_exit.{name}"))
