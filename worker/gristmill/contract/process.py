"""How a worker process is spoken to: environment variables in, exit code out."""

from enum import IntEnum, StrEnum
from typing import Final

ENV_RUN: Final = "GRISTMILL_RUN"
"""URI of the run directory a worker works on."""
ENV_RUNS: Final = "GRISTMILL_RUNS"
"""URI under which run directories lie; the default is `runs` in the working folder."""
ENV_QUEUE: Final = "GRISTMILL_QUEUE"
"""Where the work queue is: `local:<path of the SQLite file>`, `sqs:<URL of the queue>`, or
`indexed:<number of workers>`."""
ENV_INDEX: Final = "GRISTMILL_INDEX"
"""Which of the workers of an `indexed` queue this is, from 0."""
ENV_INDEX_KUBERNETES: Final = "JOB_COMPLETION_INDEX"
"""The same, as an Indexed Job of Kubernetes sets it."""
ENV_INDEX_AWS_BATCH: Final = "AWS_BATCH_JOB_ARRAY_INDEX"
"""The same, as an array job of AWS Batch sets it."""
ENV_QUIET: Final = "GRISTMILL_QUIET_SECONDS"
"""How long an `sqs` queue, which counts roughly, must seem empty for the work to be over; 60."""
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
ENV_RECLAIM_FILE: Final = "GRISTMILL_RECLAIM_FILE"
"""Path of a file; when it appears, the machine is being taken back and work stops."""
ENV_EC2_METADATA_ENDPOINT: Final = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
"""Base URL of the EC2 instance metadata, for AWS's libraries and for us."""
ENV_EC2_METADATA_DISABLED: Final = "AWS_EC2_METADATA_DISABLED"
"""`true`: the EC2 instance metadata is not asked."""

WORKER_ENVIRONMENT: Final = {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Set for every worker, so that its memory stays flat however long its input: with glibc's arena
for each thread, and Arrow's own pool, freed memory stays scattered over all of them."""


class NoticeKind(StrEnum):
    """How a worker learned that it must stop, or may have to: `kind` of a `reclaim_notice`."""

    SIGNAL = "signal"
    """SIGTERM or SIGINT."""
    LAUNCHER_GONE = "launcher_gone"
    """The `gristmill run` that started it was killed."""
    FILE = "file"
    """The file of the reclaim hook appeared."""
    SPOT = "spot"
    """EC2 takes this spot instance back at a stated time."""
    REBALANCE = "rebalance"
    """EC2 sees this spot instance at risk, at no stated time. Work goes on: the notice that names
    a time still comes."""


MACHINE_GOES: Final = frozenset({NoticeKind.FILE, NoticeKind.SPOT})
"""The whole machine is taken back: no worker on it need be started again."""


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
