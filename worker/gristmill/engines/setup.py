"""Setup: everything an engine is loaded with."""

from dataclasses import dataclass

from gristmill.contract.clock import Clock
from gristmill.contract.task import Task


@dataclass(frozen=True, slots=True)
class Setup:
    """Handed to the `load` of each engine's file."""

    task: Task
    dialect: str
    """Kind of the output format; it decides the columns."""
    seed: int
    """Seeds anything that samples."""
    threads: int | None
    """CPU threads it may use; None: the library's own choice."""
    clock: Clock
