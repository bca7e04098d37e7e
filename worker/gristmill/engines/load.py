"""Task -> loaded engine. Engine libraries are imported when their engine is asked for."""

from importlib import import_module
from types import ModuleType
from typing import Final

from gristmill.contract.clock import Clock
from gristmill.contract.errors import ConfigError
from gristmill.contract.task import Task
from gristmill.engines.protocol import Engine
from gristmill.engines.setup import Setup

MODULES: Final = {
    "echo": "gristmill.engines.echo",
    "torch": "gristmill.engines.torch_engine",
}
"""Engine kind -> the module whose `load(setup)` builds it."""


def load_engine(
    task: Task, *, dialect: str, seed: int, threads: int | None, clock: Clock
) -> Engine:
    """Load the model; blocks, for minutes with a large one.

    Raises ConfigError when the engine's library is not installed, the model isn't there, or it
    can't do the task.
    """
    kind = task.engine.kind
    setup = Setup(task=task, dialect=dialect, seed=seed, threads=threads, clock=clock)
    try:
        engine: Engine = _module(kind).load(setup)
    except ImportError as error:
        raise ConfigError(_not_installed(kind, error)) from error
    return engine


def _module(kind: str) -> ModuleType:
    try:
        return import_module(MODULES[kind])
    except OSError as error:  # a library whose shared objects are missing
        raise ConfigError(_not_installed(kind, error)) from error


def _not_installed(kind: str, error: Exception) -> str:
    return (
        f"task.engine.kind: {kind} can't be loaded here ({error}); "
        f"install it with `pip install 'gristmill[{kind}]'`"
    )
