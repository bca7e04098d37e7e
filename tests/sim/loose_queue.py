"""A queue that promises as little as SQS: repeats, reorders, counts late, and gives up at last."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, LeaseLostError

LAG_SECONDS = 5.0
"""How late a count may be."""
REPEATS = 0.05
"""Chance that a message stays visible though it was delivered."""


@dataclass
class Message:
    number: int
    ticket: Ticket
    visible_at: float = 0.0
    receives: int = 0
    handle: str = ""


@dataclass
class LooseQueue:
    """Shared by all workers of a world; time is the service's own."""

    now: Callable[[], float]
    chance: random.Random
    lease_seconds: float
    attempts: int
    messages: dict[int, Message] = field(default_factory=dict)
    dead: list[Message] = field(default_factory=list)
    repeats: float = REPEATS
    _numbers: int = 0
    _counted: tuple[float, int] = (float("-inf"), 0)

    @property
    def quiet_seconds(self) -> float:
        return 2 * LAG_SECONDS

    def fill(self, tickets: Iterable[Ticket]) -> None:
        for ticket in tickets:
            self._numbers += 1
            self.messages[self._numbers] = Message(self._numbers, ticket)

    def lease(self) -> Lease | None:
        self._bury()
        visible = [m for m in self.messages.values() if m.visible_at <= self.now()]
        if not visible:
            return None
        message = self.chance.choice(visible)
        message.receives += 1
        message.handle = f"{message.number}/{message.receives}"
        if self.chance.random() >= self.repeats:
            message.visible_at = self.now() + self.lease_seconds
        return Lease(message.ticket, message.handle, message.receives)

    def extend(self, lease: Lease) -> None:
        message = self._of(lease)
        if message is None or message.handle != lease.token or message.visible_at <= self.now():
            raise LeaseLostError(lease.token)
        message.visible_at = self.now() + self.lease_seconds

    def release(self, lease: Lease, *, spent: bool) -> None:
        message = self._of(lease)
        if message is None or message.handle != lease.token:
            return
        if not spent:
            self.fill([message.ticket])
            del self.messages[message.number]
        else:
            message.visible_at = self.now()

    def complete(self, lease: Lease) -> None:
        message = self._of(lease)
        # A handle of an earlier delivery may still do.
        if message is not None and (message.handle == lease.token or self.chance.random() < 0.5):
            del self.messages[message.number]

    def progressed(self, lease: Lease) -> None:
        message = self._of(lease)
        if message is not None:
            message.receives = 1

    def outstanding(self) -> int:
        at, count = self._counted
        if self.now() - at >= LAG_SECONDS * self.chance.random():
            count = len(self.messages)
            self._counted = (self.now(), count)
        return count

    def hungry(self) -> bool:
        return not any(m.visible_at <= self.now() for m in self.messages.values())

    def given_up(self) -> Lease | None:
        self._bury()
        if not self.dead:
            return None
        message = self.dead.pop()
        return Lease(message.ticket, message.handle, message.receives)

    def _bury(self) -> None:
        for message in list(self.messages.values()):
            if message.receives >= self.attempts and message.visible_at <= self.now():
                self.dead.append(self.messages.pop(message.number))

    def _of(self, lease: Lease) -> Message | None:
        return self.messages.get(int(lease.token.partition("/")[0]))
