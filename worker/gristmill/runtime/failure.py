"""Any exception -> the one error to report: exit code and sentence."""

import traceback
from collections.abc import Iterator

from gristmill.contract.errors import GristmillError
from gristmill.contract.process import EXIT_MEANING, ExitCode


def explain(error: BaseException) -> tuple[ExitCode, str, list[str]]:
    """(exit code, message, stack frames). Frames only for a fault of ours: they hold code places,
    never values, and the message of a foreign exception is left out since it may quote data."""
    leaves = list(_leaves(error))
    for leaf in leaves:
        if isinstance(leaf, GristmillError):
            return leaf.exit_code, str(leaf), []
    first = leaves[0]
    frames = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(first.__traceback__)
    ]
    code = ExitCode.BUG
    return code, f"{type(first).__name__}: {EXIT_MEANING[code]}", frames


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
