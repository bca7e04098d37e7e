"""Which endings of a job are worth another attempt, rendered from ExitCode."""

from dataclasses import dataclass
from typing import Final, Literal

from gristmill.contract.process import ExitCode

RETRIED: Final = (ExitCode.RECLAIMED, ExitCode.ENGINE_DEAD)
"""Endings that another machine can better. Every other ending repeats itself anywhere."""


@dataclass(frozen=True, slots=True)
class RetryRule:
    action: Literal["RETRY", "EXIT"]
    exit_code: str | None = None
    reason: str | None = None
    status_reason: str | None = None


def retry_rules() -> tuple[RetryRule, ...]:
    """At most five, the first that matches counts. A job that no rule matches is retried, so the
    last matches everything."""
    return (
        RetryRule("RETRY", status_reason="Host EC2*"),
        *(RetryRule("RETRY", exit_code=str(int(code))) for code in RETRIED),
        RetryRule("RETRY", reason="CannotPullContainer*"),
        RetryRule("EXIT", reason="*"),
    )
