"""Which worker of how many this is, as whatever started it says."""

from collections.abc import Mapping
from typing import Final

from gristmill.contract import process
from gristmill.contract.errors import ConfigError

_NAMES: Final = (process.ENV_INDEX, process.ENV_INDEX_KUBERNETES, process.ENV_INDEX_AWS_BATCH)
"""The first that is set counts."""


def worker_count(text: str) -> int:
    """`<n>` of `indexed:<n>`. Raises ConfigError."""
    if not _is_number(text) or int(text) < 1:
        raise ConfigError(
            f"{process.ENV_QUEUE}: got 'indexed:{text}'; write indexed:<n> with the number of "
            f"workers, 1 or more, the same for all of them"
        )
    return int(text)


def worker_index(env: Mapping[str, str], workers: int) -> int:
    """Raises ConfigError for an index that is missing, or is none of the workers'."""
    name = next((name for name in _NAMES if env.get(name)), None)
    if name is None:
        raise ConfigError(
            f"queue indexed:{workers} needs this worker's index, 0 to {workers - 1}: set "
            f"{process.ENV_INDEX}, or start it as a job that sets {_NAMES[1]} (a Kubernetes "
            f"Indexed Job) or {_NAMES[2]} (an AWS Batch array job)"
        )
    text = env[name]
    if not _is_number(text) or int(text) >= workers:
        raise ConfigError(
            f"{name}: got {text!r}, must be 0 to {workers - 1} for queue indexed:{workers}; let "
            f"the job have as many indexes as the queue's spec says"
        )
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
