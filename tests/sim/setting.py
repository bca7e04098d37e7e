"""What a world is made of, all of it drawn from its seed."""

import random
from dataclasses import dataclass
from typing import Literal

from tests.sim.faults import Faults
from tests.sim.job import KINDS, Truth, truth
from tests.sim.life import LONG_SECONDS, Pace

QueueKind = Literal["exact", "sqs", "claims"]
TroubleKind = Literal["kill", "pause", "reclaim", "join", "cancel"]

KINDS_OF_TROUBLE: tuple[TroubleKind, ...] = ("kill", "pause", "reclaim", "join", "cancel")
NOTICE_SECONDS = 30.0
"""From the reclaim's signal to the kill."""
LONGEST_PAUSE = 40.0


@dataclass(frozen=True)
class Trouble:
    at: float
    kind: TroubleKind
    seconds: float
    steps: int
    """Kill: so many steps later, in the midst of a call; 0: at once."""
    leaves: bool
    """Whether the machine stays away, if others are there."""


@dataclass(frozen=True)
class Setting:
    seed: int
    job: int
    workers: int
    queue: QueueKind
    twice: float
    """Chance that SQS delivers again what it delivered."""
    lease_seconds: int
    pace: Pace
    skew: float
    """Seconds by which two clocks may differ."""
    faults: Faults
    troubles: tuple[Trouble, ...]
    calm_at: float
    """From here on nothing goes wrong any more."""

    @property
    def truth(self) -> Truth:
        return truth(self.job)

    @property
    def machines(self) -> int:
        """Those that come late included."""
        return self.workers + sum(trouble.kind == "join" for trouble in self.troubles)

    @property
    def end_by(self) -> float:
        """When it must be over: the last trouble has passed, a lease of the dead has run out twice
        and its work is done again by one worker alone, and the count is believed."""
        delays = 4 * LONG_SECONDS if self.pace.held_up else 0.0
        slow = self.truth.seconds * 2 + delays + 60 * self.pace.seconds
        return self.calm_at + LONGEST_PAUSE + NOTICE_SECONDS + 3 * self.lease_seconds + slow + 60


def draw(seed: int) -> Setting:
    chance = random.Random(f"setting {seed}")
    number = chance.randrange(KINDS)
    workers = chance.randint(1, 4)
    calm_at = 10 + 1.2 * truth(number).seconds / workers
    rough = chance.random() < 0.4
    return Setting(
        seed=seed,
        job=number,
        workers=workers,
        queue=chance.choice(("exact", "sqs", "claims")),
        twice=chance.choice((0.0, 0.0, 0.1)),
        lease_seconds=chance.choice((6, 12, 24)),
        pace=Pace(
            seconds=chance.choice((0.01, 0.1, 0.5)),
            held_up=chance.choice((0.0, 0.0, 0.02)),
            torn=chance.choice((0.0, 0.0, 0.0, 0.4)),
        ),
        skew=chance.choice((0.0, 3600.0)),
        faults=_faults(chance) if rough else Faults(),
        troubles=_troubles(chance, calm_at),
        calm_at=calm_at,
    )


def _faults(chance: random.Random) -> Faults:
    return Faults(chance.uniform(0, 0.02), chance.uniform(0, 0.02), chance.uniform(0, 0.03))


def _troubles(chance: random.Random, calm_at: float) -> tuple[Trouble, ...]:
    some = chance.sample(KINDS_OF_TROUBLE, chance.randint(1, len(KINDS_OF_TROUBLE)))
    troubles = [
        Trouble(
            at=chance.uniform(0, calm_at),
            kind=chance.choice(some),
            seconds=chance.uniform(2, LONGEST_PAUSE),
            steps=chance.choice((0, chance.randint(1, 40))),
            leaves=chance.random() < 0.3,
        )
        for _ in range(chance.randint(0, 6))
    ]
    return tuple(sorted(troubles, key=lambda trouble: trouble.at))
