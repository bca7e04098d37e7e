"""Life: what may happen to one simulated worker, and the host that it feels it through."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, TypeVarTuple

import trio

from gristmill.runtime.host import Host

T = TypeVar("T")
Args = TypeVarTuple("Args")


class DeadWorkerError(Exception):
    """A killed worker does nothing any more, not even in a `finally`."""


@dataclass
class Life:
    """`skew`: seconds by which its wall clock is wrong. While it is paused, as by SIGSTOP, its
    sleeps and calls wait; those already under way land late."""

    name: str
    chance: random.Random
    slowness: float
    """Longest wait of a call, seconds."""
    skew: float = 0.0
    dead: bool = False
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    stop: trio.Event | None = None
    _pauses: int = 0
    _running: trio.Event = field(default_factory=trio.Event)

    def __post_init__(self) -> None:
        self._running.set()

    @property
    def host(self) -> Host:
        return Host(LifeClock(self), self._offload)

    def kill(self) -> None:
        self.dead = True
        self._running.set()
        self.scope.cancel()

    def pause(self) -> None:
        self._pauses += 1
        if not self.dead and self._running.is_set():
            self._running = trio.Event()

    def resume(self) -> None:
        self._pauses -= 1
        if not self._pauses:
            self._running.set()

    async def wait(self, seconds: float) -> None:
        """Time passes; longer while it is paused."""
        self.check()
        if seconds:
            await trio.sleep(seconds)
        else:
            await trio.lowlevel.checkpoint()
        while not self._running.is_set():
            await self._running.wait()
        self.check()

    def check(self) -> None:
        if self.dead:
            raise DeadWorkerError(self.name)

    async def _offload(self, call: Callable[[*Args], T], *args: *Args) -> T:
        """Waits, calls, waits: it may die or be paused before the call and after it."""
        await self.wait(self.slowness * self.chance.random())
        result = call(*args)
        await self.wait(0)
        return result


@dataclass(frozen=True)
class LifeClock:
    """Virtual time as one worker sees it."""

    life: Life

    def now(self) -> float:
        return 1_000_000.0 + trio.current_time() + self.life.skew

    def monotonic(self) -> float:
        return trio.current_time() + self.life.skew

    async def sleep(self, seconds: float) -> None:
        await self.life.wait(seconds)
