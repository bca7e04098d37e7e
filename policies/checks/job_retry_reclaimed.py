"""A worker that was reclaimed is started again."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import Resource, blocks

RECLAIMED: Final = "75"
"""gristmill.contract.process.ExitCode.RECLAIMED; an agreement test holds the two together."""


class RetryReclaimed(Check):
    title = "A worker that was reclaimed is started again"
    risk = "Each spot reclaim would end a job, and the run would stop short."
    remedy = "Render the retry rules from infra/retries.py, which knows exit code 75."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        strategy = resource.block("retry_strategy")
        for rule in blocks(strategy, "evaluate_on_exit"):
            if rule.get("on_exit_code") == RECLAIMED:
                if rule.get("action", "").upper() != "RETRY":
                    yield f"exit code {RECLAIMED} is answered with {rule.get('action')}"
                return
            if _ends_everything(rule):
                break
        yield f"no rule starts a worker again that ended with {RECLAIMED}"


def _ends_everything(rule: Mapping[str, Any]) -> bool:
    return rule.get("action", "").upper() == "EXIT" and "*" in (
        rule.get("on_reason"),
        rule.get("on_exit_code"),
        rule.get("on_status_reason"),
    )
