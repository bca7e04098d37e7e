"""Virtual time on asyncio, the loop that workers have in production: the same steps, every time.

Nothing here waits and nothing here is random: when no task can go on, time jumps to where the next
one can.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar
from unittest.mock import patch

import anyio
from anyio._backends import _asyncio

T = TypeVar("T")

MOST_STEPS = 200_000
"""Turns of the loop, after which a world counts as going round in circles."""


class StuckError(AssertionError):
    """A world that will never end."""


class Time:
    """What is on all clocks. Any thread may read it."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return 1_000_000.0 + self.at

    def monotonic(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class _NoFiles(selectors.SelectSelector):
    """Instead of waiting for files until a time, moves the time."""

    def __init__(self, time: Time) -> None:
        super().__init__()
        self._time = time
        self._steps = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        self._steps += 1
        if self._steps > MOST_STEPS:
            self._steps = 0  # its tasks are cancelled next, which takes some more
            raise StuckError(f"no end after {MOST_STEPS:,} steps, at {self._time.at:.3f} s")
        if timeout is None:
            raise StuckError(f"everybody waits for somebody else, at {self._time.at:.3f} s")
        self._time.at += max(0.0, timeout)
        return []


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, time: Time) -> None:
        super().__init__(_NoFiles(time))
        self._virtual = time

    def time(self) -> float:
        return self._virtual.at


class _InOrder(dict[Any, None]):
    """A set that is gone through in the order in which it was filled, not by address."""

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.keys()))

    def add(self, item: Any) -> None:
        self[item] = None

    def discard(self, item: Any) -> None:
        self.pop(item, None)

    def remove(self, item: Any) -> None:
        del self[item]


def run_virtual(body: Callable[[], Coroutine[Any, Any, T]], time: Time) -> T:
    """Raises StuckError."""
    # anyio keeps tasks and scopes in sets, and cancels them in the order of their addresses.
    with patch.object(_asyncio, "set", _InOrder, create=True):
        return anyio.run(
            body,
            backend="asyncio",
            backend_options={"loop_factory": lambda: _VirtualLoop(time)},
        )
