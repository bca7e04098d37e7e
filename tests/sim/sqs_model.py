"""A model of the service that SqsQueue talks to, with no more promises than SQS gives.

It delivers in any order, late, sometimes twice, sometimes once more after a deletion; it counts
late; an old receipt may or may not do.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gristmill.queue.sqs_calls import HandleLostError, Message, Unsent
from tests.sim.faults import Line
from tests.sim.virtual import Time

LAG_SECONDS = 4.0
"""How late a count may be, and how late a message may show."""
QUIET_SECONDS = 3 * LAG_SECONDS


@dataclass
class _Kept:
    name: str
    body: str
    visible_at: float
    receives: int = 0
    ghost: bool = False
    """It was deleted and shows once more."""

    @property
    def handle(self) -> str:
        return f"{self.name}/{self.receives}"


@dataclass
class SqsModel:
    """Shared by all workers of a world; its time is its own."""

    time: Time
    chance: random.Random
    twice: float
    """Chance that a message stays visible though it was delivered, or shows once more though it
    was deleted."""
    kept: dict[str, _Kept] = field(default_factory=dict)
    surplus: int = 0
    """Deliveries beyond those that were asked for."""
    _sent: int = 0
    _counted_at: float = float("-inf")
    _counts: tuple[int, int] = (0, 0)

    def send(self, body: str, delay_seconds: float = 0) -> None:
        self._sent += 1
        late = LAG_SECONDS * self.chance.random() if self.chance.random() < 0.2 else 0.0
        name = f"m{self._sent}"
        self.kept[name] = _Kept(name, body, self.time.at + delay_seconds + late)

    def receive(self, hidden_seconds: float) -> Message | None:
        visible = [m for m in self.kept.values() if m.visible_at <= self.time.at]
        if not visible or self.chance.random() < 0.05:  # a short poll may miss what is there
            return None
        message = self.chance.choice(visible)
        message.receives += 1
        if self.chance.random() < self.twice:
            self.surplus += 1
        else:
            message.visible_at = self.time.at + hidden_seconds
        return Message(message.handle, message.body, message.receives)

    def hide(self, handle: str, seconds: float) -> None:
        message = self._of(handle)
        if message is None or message.visible_at <= self.time.at:
            raise HandleLostError(handle)
        message.visible_at = self.time.at + seconds

    def delete(self, handle: str) -> None:
        message = self._of(handle)
        if message is None:
            return
        del self.kept[message.name]
        if self.chance.random() < self.twice:
            self.surplus += 1
            self.send(message.body)
            self.kept[f"m{self._sent}"].ghost = True

    def attributes(self) -> Mapping[str, str]:
        if self.time.at - self._counted_at >= LAG_SECONDS * self.chance.random():
            visible = sum(m.visible_at <= self.time.at for m in self.kept.values())
            self._counts = visible, len(self.kept) - visible
            self._counted_at = self.time.at
        visible, hidden = self._counts
        return {
            "ApproximateNumberOfMessages": str(visible),
            "ApproximateNumberOfMessagesNotVisible": str(hidden),
        }

    def _of(self, handle: str) -> _Kept | None:
        name, _, receives = handle.partition("/")
        message = self.kept.get(name)
        if message is None or int(receives) == message.receives:
            return message
        return message if self.chance.random() < 0.5 else None


class ModelCalls:
    """One worker's SqsCalls."""

    url = "https://sqs.eu-west-1.amazonaws.com/1/model"

    def __init__(self, model: SqsModel, line: Line) -> None:
        self._model = model
        self._line = line

    def attributes(self, *names: str) -> Mapping[str, str]:
        return self._line.read(self._model.attributes)

    def receive(self, hidden_seconds: int, wait_seconds: int) -> Message | None:
        return self._line.write(lambda: self._model.receive(hidden_seconds))

    def send(self, body: str, delay_seconds: int = 0) -> None:
        self._line.write(lambda: self._model.send(body, delay_seconds))

    def send_batch(self, bodies: Sequence[str]) -> list[Unsent]:
        return self._line.write(lambda: self._send_some(bodies))

    def hide(self, handle: str, seconds: int) -> None:
        self._line.write(lambda: self._model.hide(handle, seconds))

    def delete(self, handle: str) -> None:
        self._line.write(lambda: self._model.delete(handle))

    def _send_some(self, bodies: Sequence[str]) -> list[Unsent]:
        unsent = []
        for body in bodies:
            if self._refused():
                unsent.append(Unsent(body, "ServiceUnavailable", ours=False))
            else:
                self._model.send(body)
        return unsent

    def _refused(self) -> bool:
        return self._line.life.chance.random() < self._line.faults.refused
