"""How a worker process is spoken to: environment variables in, exit code out."""

from enum import IntEnum
from typing import Final

ENV_RUN: Final = "GRISTMILL_RUN"
"""URI of the run directory a worker works on."""
ENV_RUNS: Final = "GRISTMILL_RUNS"
"""URI under which run directories lie; the default is `runs` in the working folder."""
ENV_QUEUE: Final = "GRISTMILL_QUEUE"
"""Where the work queue is: `local:<path of the SQLite file>` or `sqs:<URL of the queue>`."""
ENV_QUIET: Final = "GRISTMILL_QUIET_SECONDS"
"""How long a queue that counts roughly (SQS) must seem empty before work is over; default: 60."""
ENV_ATTEMPT: Final = "GRISTMILL_ATTEMPT"
"""Name of this attempt; made up by the worker when absent."""
ENV_THREADS: Final = "GRISTMILL_THREADS"
"""CPU threads the engine may use; the default is every core."""
ENV_SHARE: Final = "GRISTMILL_MACHINE_SHARE"
"""Part of one machine this worker stands for, 0 to 1: N workers on a machine each cost 1/N."""
ENV_POLICY: Final = "GRISTMILL_POLICY"
"""JSON of the blueprint's sections that may change between attempts (see run.POLICY)."""
ENV_PARENT_PIPE: Final = "GRISTMILL_PARENT_PIPE"
"""Set when standard input is a pipe from the launcher: its end means the launcher is gone."""

WORKER_ENVIRONMENT: Final = {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Set for every worker, so that its memory stays flat however long its input: with glibc's arena
for each thread, and Arrow's own pool, freed memory stays scattered over all of them."""


class ExitCode(IntEnum):
    """Exit codes of every gristmill process, after sysexits.h where it has a word for it."""

    DONE = 0
    USAGE = 64
    BAD_INPUT = 65
    """The input is damaged or empty, or more records were rejected than the blueprint allows."""
    BUG = 70
    ENGINE_DEAD = 71
    """The engine stopped working; another machine may do better."""
    STORAGE = 74
    RECLAIMED = 75
    """Stopped from outside with everything kept; run it again."""
    BAD_SPEC = 76
    """The run directory belongs to another blueprint, model or input."""
    PERMISSION = 77
    CONFIG = 78


EXIT_MEANING: Final[dict[ExitCode, str]] = {
    ExitCode.DONE: "done",
    ExitCode.USAGE: "wrong command line",
    ExitCode.BAD_INPUT: "the input is damaged or empty, or too many records were rejected",
    ExitCode.BUG: "a fault in gristmill; please report it",
    ExitCode.ENGINE_DEAD: "the engine stopped working; everything finished is kept",
    ExitCode.STORAGE: "storage can't be reached, or is full; everything finished is kept",
    ExitCode.RECLAIMED: "stopped from outside with everything kept; run it again to go on",
    ExitCode.BAD_SPEC: "the run belongs to another blueprint, model or input",
    ExitCode.PERMISSION: "permission refused",
    ExitCode.CONFIG: "the blueprint, or what it names, is wrong",
}
