"""Life: what may happen to one simulated worker, and the host that it feels it through."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from gristmill.runtime.host import Host
from tests.sim.strand import Request, Strands, current
from tests.sim.virtual import Time

T = TypeVar("T")
Args = TypeVarTuple("Args")

LONG_SECONDS = 8.0
"""Longest time of a call that is held up."""


class DeadWorkerError(BaseException):
    """A killed worker does nothing any more, not even in a `finally`."""


@dataclass(frozen=True)
class Pace:
    """How a world's calls take their time."""

    seconds: float
    """Longest usual time of a request, there and back."""
    held_up: float
    """Chance that one takes much longer."""
    torn: float
    """Chance that others act between two requests of one call."""


@dataclass
class Life:
    """`skew`: seconds by which its clocks differ from the world's. While it is paused, as by
    SIGSTOP, all its sleeps and calls wait."""

    name: str
    time: Time
    chance: random.Random
    pace: Pace
    strands: Strands
    late: Callable[[float, Request], None]
    """Lets a request of the dead, which was under way, arrive after so many seconds."""
    skew: float = 0.0
    dead: bool = False
    delays: int = 0
    """Calls that were held up."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stop: anyio.Event = field(default_factory=anyio.Event)
    _pauses: int = 0
    _running: anyio.Event | None = None
    _steps_left: int | None = None

    @property
    def host(self) -> Host:
        return Host(LifeClock(self), self._offload)

    def kill(self) -> None:
        self.dead = True
        self.scope.cancel()
        if self._running is not None:
            self._running.set()

    def kill_after(self, steps: int) -> None:
        """At one of its next steps, which may be anywhere in a call."""
        self._steps_left = steps

    def pause(self) -> None:
        self._pauses += 1
        if self._running is None:
            self._running = anyio.Event()

    def resume(self) -> None:
        self._pauses -= 1
        if not self._pauses and self._running is not None:
            self._running.set()
            self._running = None

    async def wait(self, seconds: float) -> None:
        """Time passes; longer while it is paused."""
        self.step()
        await asyncio.sleep(seconds)
        while self._running is not None and not self.dead:
            await self._running.wait()
        self.step()

    def step(self) -> None:
        """Raises DeadWorkerError when it is its last."""
        if self._steps_left is not None and not self.dead:
            self._steps_left -= 1
            self.dead = self._steps_left <= 0
        if self.dead:
            raise DeadWorkerError(self.name)

    def request(self, effect: Callable[[], T], *, writes: bool) -> T:
        """One request of a blocking call: at once, or when the world says so."""
        strand = current()
        if strand is None:
            self.step()
            result = effect()
            self.step()
            return result
        answer: T = strand.ask(Sent(effect, writes))
        return answer

    async def _offload(self, call: Callable[[*Args], T], *args: *Args) -> T:
        """As a worker thread does it: once begun, the call runs to its end, cancelled or not."""
        await checkpoint_if_cancelled()
        if self.chance.random() < self.pace.torn:
            with anyio.CancelScope(shield=True):
                return await self._torn(partial(call, *args))
        try:
            await self.wait(self._latency())
        except asyncio.CancelledError:  # a scope for each call would cost more than all the rest
            with anyio.CancelScope(shield=True):
                await self.wait(0)
        return call(*args)

    async def _torn(self, call: Callable[[], T]) -> T:
        strand = self.strands.take()
        request = strand.begin(call)
        while request is not None:
            try:
                answer = await self._carry_out(request)
            except BaseException as error:  # noqa: BLE001 - it is the call's
                request = strand.go_on(error=error)
            else:
                request = strand.go_on(answer)
        self.strands.give_back(strand)
        result: T = strand.result()
        return result

    async def _carry_out(self, request: Request) -> Any:
        there, back = self._latency(), self._latency()
        try:
            await self.wait(there)
        except DeadWorkerError:
            if self.chance.random() < 0.5 and isinstance(request, Sent) and request.writes:
                self.late(there, request)
            raise
        answer = request()
        await self.wait(back)
        return answer

    def _latency(self) -> float:
        longest = self.pace.seconds / 2
        if self.pace.held_up and self.chance.random() < self.pace.held_up:
            longest = LONG_SECONDS
            self.delays += 1
        return longest * self.chance.random()


@dataclass(frozen=True)
class Sent:
    """A request that is on its way: its sender may die before it arrives."""

    effect: Callable[[], Any]
    writes: bool

    def __call__(self) -> Any:
        return self.effect()


@dataclass(frozen=True)
class LifeClock:
    """Time as one worker sees it."""

    life: Life

    def now(self) -> float:
        return self.life.time.now() + self.life.skew

    def monotonic(self) -> float:
        return self.life.time.monotonic() + self.life.skew

    async def sleep(self, seconds: float) -> None:
        await self.life.wait(seconds)
