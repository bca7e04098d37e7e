"""Virtual time: hours pass in milliseconds, in the order in which they would."""

from collections.abc import Callable, Coroutine
from typing import Any

import trio
import trio.testing


class TrioClock:
    """Trio's time, which the simulation turns."""

    def now(self) -> float:
        return 1_000_000.0 + trio.current_time()

    def monotonic(self) -> float:
        return trio.current_time()

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


def simulate(body: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """Run it on virtual time; how many virtual seconds it took."""

    async def timed() -> float:
        began = trio.current_time()
        await body()
        return trio.current_time() - began

    seconds: float = trio.run(timed, clock=trio.testing.MockClock(autojump_threshold=0))
    return seconds
