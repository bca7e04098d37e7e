"""Clock: the only source of time, handed in from outside so that tests can turn it."""

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, for people and for other machines."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; for durations."""
        ...

    async def sleep(self, seconds: float) -> None: ...
