"""A reclaim spends no retry, and a fault that stays ends the job."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource, blocks
from policies.reading.workload import RESOURCES, Workload, workloads

RECLAIMED: Final = 75
LASTING: Final = (64, 76, 77, 78)
"""Exit codes that another try won't mend; an agreement test holds all five to the worker's."""


class FailurePolicy(Check):
    title = "A reclaim spends no retry, and a fault that stays ends the job"
    risk = "Reclaims would use up backoffLimit, or a wrong configuration would be tried to the end."
    remedy = (
        "Give the Job a podFailurePolicy: Ignore on condition DisruptionTarget and on exit code "
        "75, FailJob on 64, 76, 77 and 78; and restartPolicy Never."
    )
    source = "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy"
    resources = RESOURCES

    def faults(self, resource: Resource) -> Iterator[str]:
        for workload in workloads(resource):
            if workload.is_job:
                yield from _faults(workload)


def _faults(workload: Workload) -> Iterator[str]:
    policy = workload.spec.get("podFailurePolicy")
    if policy is None:
        yield "podFailurePolicy is not there"
        return
    if not isinstance(policy, Mapping):
        raise CannotTellError(f"podFailurePolicy is {policy!r}")
    rules = blocks(policy, "rules")
    if workload.pod.get("restartPolicy") != "Never":
        yield f"restartPolicy is {workload.pod.get('restartPolicy')!r}, must be 'Never'"
    if not any(rule.get("action") == "Ignore" and _is_disruption(rule) for rule in rules):
        yield "no rule ignores the condition DisruptionTarget"
    answer = _answer(rules, RECLAIMED)
    if answer != "Ignore":
        yield f"exit code {RECLAIMED} is answered with {answer}, must be Ignore"
    for code in LASTING:
        if (answer := _answer(rules, code)) != "FailJob":
            yield f"exit code {code} is answered with {answer}, must be FailJob"


def _is_disruption(rule: Mapping[str, Any]) -> bool:
    return any(c.get("type") == "DisruptionTarget" for c in blocks(rule, "onPodConditions"))


def _answer(rules: list[Mapping[str, Any]], code: int) -> str:
    """The first rule that matches an exit code decides."""
    for rule in rules:
        for wanted in blocks(rule, "onExitCodes"):
            values = wanted.get("values")
            if not isinstance(values, list):
                raise CannotTellError(f"onExitCodes.values is {values!r}")
            if (code in values) == (wanted.get("operator") == "In"):
                return str(rule.get("action"))
    return "another try"
