"""What the workers of a world share, and the doors by which one of them reaches it."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any

from gristmill.contract.ticket import Ticket
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.protocol import WorkQueue, silent
from gristmill.queue.sqs import Envelope, SqsQueue
from tests.doubles.memory_queue import MemoryQueue
from tests.doubles.memory_store import MemoryStore
from tests.sim.door import Door
from tests.sim.faults import Faults, Line
from tests.sim.faulty_store import FaultyStore, Ledger
from tests.sim.life import Life
from tests.sim.setting import Setting
from tests.sim.sqs_model import QUIET_SECONDS, ModelCalls, SqsModel
from tests.sim.virtual import Time

ATTEMPTS = 1_000_000
"""Nothing is given up: what a world promises is that all gets done."""
RUN = "memory://runs/mill"


@dataclass
class Services:
    setting: Setting
    time: Time
    run: MemoryStore
    inputs: MemoryStore
    output: MemoryStore
    exact: MemoryQueue
    sqs: SqsModel
    faults: Faults
    ledger: Ledger = field(default_factory=Ledger)
    tokens: Callable[[], int] = field(default_factory=lambda: count().__next__)

    @classmethod
    def of(cls, setting: Setting, time: Time) -> "Services":
        truth, faults = setting.truth, setting.faults
        tokens = count().__next__
        made = cls(
            setting=setting,
            time=time,
            run=truth.planned.copy(),
            inputs=truth.mill.inputs,
            output=MemoryStore("memory://out"),
            exact=MemoryQueue(
                now=time.now,
                token=lambda: f"token-{tokens()}",
                lease_seconds=setting.lease_seconds,
                attempts=ATTEMPTS,
            ),
            sqs=SqsModel(time, random.Random(f"sqs {setting.seed}"), setting.twice),
            faults=Faults(faults.refused, faults.unanswered, faults.repeated),
            tokens=tokens,
        )
        for ticket in map(Ticket, range(truth.mill.plan.shards)):
            made.exact.fill([ticket])
            made.sqs.send(Envelope(run=RUN, ticket=ticket.encode()).encode())
        return made

    def calm_down(self) -> None:
        self.faults.end()
        self.sqs.twice = 0.0

    def line(self, where: str, life: Life) -> Line:
        return Line(where, life, self.faults)

    def store(self, store: MemoryStore, life: Life) -> FaultyStore:
        return FaultyStore(store, self.line(store.uri, life), self.ledger)

    def queue(self, life: Life, index: int) -> WorkQueue:
        """As one worker process opens it."""
        clock, lease_seconds = life.host.clock, self.setting.lease_seconds
        match self.setting.queue:
            case "exact":
                return Door(self.exact, self.line("queue", life))
            case "sqs":
                return SqsQueue(
                    ModelCalls(self.sqs, self.line("sqs", life)),  # type: ignore[arg-type]
                    None,
                    run=RUN,
                    now=clock.monotonic,
                    tell=silent,
                    lease_seconds=lease_seconds,
                    quiet_seconds=QUIET_SECONDS,
                    poll_seconds=0,
                )
            case "claims":
                return self._claims(life, index)

    def left(self) -> int:
        """Tickets that are still to be done, as the service itself knows."""
        match self.setting.queue:
            case "exact":
                return self.exact.outstanding()
            case "sqs":
                return sum(not message.ghost for message in self.sqs.kept.values())
            case "claims":
                return self._indexed(self.run, self.time.monotonic, 0).outstanding()

    def _claims(self, life: Life, index: int) -> IndexedQueue:
        queue = self._indexed(self.store(self.run, life), life.host.clock.monotonic, index)
        queue._deciding = _NobodyWaits()  # type: ignore[assignment]
        return queue

    def _indexed(self, store: Any, monotonic: Callable[[], float], index: int) -> IndexedQueue:
        return IndexedQueue(
            store,
            shards=self.setting.truth.mill.plan.shards,
            index=index,
            workers=self.setting.machines,
            monotonic=monotonic,
            token=lambda: f"token-{self.tokens()}",
            lease_seconds=self.setting.lease_seconds,
            attempts=ATTEMPTS,
        )


class _NobodyWaits:
    """A lock that a worker never waits for. In a world of one thread it would wait forever."""

    def __init__(self) -> None:
        self._lock = Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise AssertionError("two calls of one worker would wait for each other")

    def __exit__(self, *_: object) -> None:
        self._lock.release()
