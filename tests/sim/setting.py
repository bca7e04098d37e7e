"""What a world is made of, drawn from its seed: input, engine, workers, queue and troubles."""

import functools
import random
from dataclasses import dataclass
from typing import Literal

from gristmill.contract.blueprint import Blueprint
from tests.doubles.engines import SmallBatches
from tests.doubles.mill import Mill, blueprint, json_lines
from tests.doubles.trio_clock import TrioClock, simulate
from tests.sim.faulty_store import Faults

LEASE_SECONDS = 12.0

TroubleKind = Literal["kill", "pause", "reclaim", "join", "cancel"]


@dataclass(frozen=True)
class Job:
    """What is to be done. A few kinds, so that each is done undisturbed once a process."""

    records: int
    shard_bytes: int
    part_records: int
    batch_records: int
    records_per_second: float
    continuous: bool

    @property
    def blueprint(self) -> Blueprint:
        return blueprint(
            {
                "records_per_second": self.records_per_second,
                "continuous": self.continuous,
                "faults": {"reject_containing": "poison"},
            },
            shard={"bytes": self.shard_bytes},
            part={"records": self.part_records},
        )

    @property
    def bodies(self) -> dict[str, bytes]:
        texts = [f"{'poison' if i % 17 == 5 else 'record'} {i}" for i in range(self.records)]
        half = self.records // 2
        return {
            "a.jsonl": json_lines(texts[:half]) + b'{"other": "no text"}\n{bad\n',
            "b.jsonl": json_lines(texts[half:]),
        }

    def planned(self, queue_attempts: int = 1000) -> Mill:
        mill = Mill.planned(self.bodies, TrioClock(), self.blueprint, lease_seconds=LEASE_SECONDS)
        mill.queue._attempts = queue_attempts
        return mill


@dataclass(frozen=True)
class Trouble:
    at: float
    kind: TroubleKind
    seconds: float


@dataclass(frozen=True)
class Setting:
    seed: int
    job: Job
    workers: int
    loose: bool
    """The queue promises as little as SQS."""
    slowness: float
    skew: float
    faults: Faults
    troubles: tuple[Trouble, ...]
    calm_at: float
    """From here on nothing goes wrong any more, and the run must come to its end."""

    @property
    def has(self) -> set[TroubleKind]:
        return {trouble.kind for trouble in self.troubles}


JOBS = (
    Job(40, 500, 6, 3, 2.0, continuous=False),
    Job(40, 1000, 4, 4, 2.0, continuous=False),
    Job(30, 600, 6, 2, 0.25, continuous=False),
    Job(40, 10_000, 4, 2, 1.0, continuous=False),
    Job(40, 700, 8, 1, 4.0, continuous=True),
    Job(40, 10_000, 8, 1, 8.0, continuous=True),
)


def draw(seed: int) -> Setting:
    chance = random.Random(seed)
    job = chance.choice(JOBS)
    workers = chance.randint(1, 4)
    loose = chance.random() < 0.5
    calm_at = 20 + 1.5 * job.records / job.records_per_second / workers
    kinds: tuple[TroubleKind, ...] = ("kill", "kill", "pause", "reclaim", "join", "cancel")
    some = chance.sample(kinds, chance.randint(1, len(kinds)))
    troubles = tuple(
        Trouble(chance.uniform(0, calm_at), chance.choice(some), chance.uniform(2, 40))
        for _ in range(chance.randint(0, 6))
    )
    rough = chance.random() < 0.4
    faults = (
        Faults(chance.uniform(0, 0.02), chance.uniform(0, 0.02), chance.uniform(0, 0.03))
        if rough
        else Faults()
    )
    return Setting(
        seed=seed,
        job=job,
        workers=workers,
        loose=loose,
        slowness=chance.choice((0.0, 0.05, 0.5)),
        skew=chance.choice((0.0, 3600.0)),
        faults=faults,
        troubles=tuple(sorted(troubles, key=lambda trouble: trouble.at)),
        calm_at=calm_at,
    )


@functools.cache
def undisturbed(job: Job) -> dict[str, bytes]:
    """The results of one worker that nothing disturbs."""
    found: dict[str, bytes] = {}

    async def body() -> None:
        mill = job.planned()
        await mill.work(SmallBatches(mill.engine(), records=job.batch_records))
        found.update(mill.results())

    simulate(body)
    return found
