"""One worker's way to a service: requests that are refused, forgotten or repeated."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gristmill.contract.errors import StorageError
from tests.sim.life import Life

T = TypeVar("T")


@dataclass
class Faults:
    """Chances, 0 to 1, of a request. They end with the world's troubles."""

    refused: float = 0.0
    """503 after all retries: nothing was done."""
    unanswered: float = 0.0
    """It was done, and the answer was lost for good."""
    repeated: float = 0.0
    """It was done, the answer was lost, and the client's own retry did it again."""

    def end(self) -> None:
        self.refused = self.unanswered = self.repeated = 0.0


@dataclass(frozen=True)
class Line:
    """Between one worker and one service."""

    where: str
    life: Life
    faults: Faults

    def read(self, call: Callable[[], T]) -> T:
        return self.life.request(lambda: self._try(call), writes=False)

    def write(self, call: Callable[[], T]) -> T:
        return self.life.request(lambda: self._try(call), writes=True)

    def _try(self, call: Callable[[], T]) -> T:
        draw, faults = self.life.chance.random(), self.faults
        if draw < faults.refused:
            raise StorageError(f"{self.where}: 503 SlowDown")
        result = call()
        if draw > 1 - faults.unanswered:
            raise StorageError(f"{self.where}: the answer was lost")
        if draw > 1 - faults.unanswered - faults.repeated:
            return call()
        return result
