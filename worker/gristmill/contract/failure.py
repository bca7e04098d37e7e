"""Classes of failure, each with a budget of its own: a reclaim never spends what a bug may."""

from enum import StrEnum
from typing import Final

from gristmill.contract.process import ExitCode


class FailureClass(StrEnum):
    """Why an attempt ended before its work did."""

    RECLAIMED = "reclaimed"
    """The machine was taken back, or someone stopped the worker."""
    CAPACITY = "capacity"
    """No machine was to be had. Clouds only: the queue waits, until the deadline."""
    ENGINE_DEAD = "engine_dead"
    """The engine stopped working or hung, or the process was killed."""
    BAD_RECORD = "bad_record"
    """More records were rejected than the blueprint allows, or the input is damaged."""
    STORAGE = "storage"
    """Storage can't be reached, after all retries inside."""
    BAD_SPEC = "bad_spec"
    """The blueprint, the input or the permissions are not what the run needs."""
    BUG = "bug"
    """A fault in gristmill, or a library that can't be imported."""


CLASS_OF: Final[dict[ExitCode, FailureClass]] = {
    ExitCode.RECLAIMED: FailureClass.RECLAIMED,
    ExitCode.ENGINE_DEAD: FailureClass.ENGINE_DEAD,
    ExitCode.BAD_INPUT: FailureClass.BAD_RECORD,
    ExitCode.STORAGE: FailureClass.STORAGE,
    ExitCode.USAGE: FailureClass.BAD_SPEC,
    ExitCode.BAD_SPEC: FailureClass.BAD_SPEC,
    ExitCode.PERMISSION: FailureClass.BAD_SPEC,
    ExitCode.CONFIG: FailureClass.BAD_SPEC,
    ExitCode.BUG: FailureClass.BUG,
}

RESTARTS: Final[dict[FailureClass, int]] = {
    FailureClass.RECLAIMED: 20,
    FailureClass.ENGINE_DEAD: 3,
    FailureClass.STORAGE: 2,
}
"""How often in a row, with no part published in between, a worker that ended so is begun anew on
one machine. Absent: never, as it would end the same way again."""

BACKOFF_SECONDS: Final = 0.25
LONGEST_BACKOFF_SECONDS: Final = 30.0


def backoff(deaths: int, jitter: float) -> float:
    """Seconds to wait after so many deaths in a row: doubling, up to a limit, the half of it by
    chance (`jitter`, 0 to 1), so that workers which died together don't come back together."""
    longest: float = min(LONGEST_BACKOFF_SECONDS, BACKOFF_SECONDS * 2.0 ** max(0, deaths - 1))
    return longest * (0.5 + jitter / 2)
