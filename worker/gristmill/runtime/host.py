"""What a worker is given by the machine it runs on: time, and a way to run blocking calls.

A simulator hands in its own: virtual time, and blocking calls run in place.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread

from gristmill.contract.clock import Clock

T = TypeVar("T")
Args = TypeVarTuple("Args")


class Offload(Protocol):
    """Runs a blocking call away from the event loop and waits for it, cancelled or not."""

    async def __call__(self, call: Callable[[*Args], T], *args: *Args) -> T: ...


@dataclass(frozen=True, slots=True)
class Host:
    clock: Clock
    offload: Offload


class WallClock:
    """Real time."""

    def now(self) -> float:
        return time.time()  # noqa: TID251

    def monotonic(self) -> float:
        return time.monotonic()  # noqa: TID251

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


async def in_thread(call: Callable[[*Args], T], *args: *Args) -> T:
    """Offload to anyio's worker threads."""
    return await anyio.to_thread.run_sync(call, *args)
