"""Trio shuffles tasks that are ready, by a generator of its own: here it is given ours."""

from collections.abc import Callable, Coroutine
from typing import Any

import trio
import trio.testing

# No public door exists; trio's own tests and Hypothesis's plugin use these two.
from trio._core import _run


def run_seeded(body: Callable[[], Coroutine[Any, Any, None]], seed: int) -> None:
    """On virtual time, in an order that depends on the seed alone."""
    before = _run._ALLOW_DETERMINISTIC_SCHEDULING
    _run._ALLOW_DETERMINISTIC_SCHEDULING = True
    _run._r.seed(seed)
    try:
        trio.run(body, clock=trio.testing.MockClock(autojump_threshold=0))
    finally:
        _run._ALLOW_DETERMINISTIC_SCHEDULING = before
