"""What a world's workers are to do. A few kinds, so that each is done undisturbed just once."""

import functools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

from gristmill.contract import layout
from gristmill.contract.blueprint import Blueprint
from gristmill.contract.canonical import decode
from gristmill.contract.manifest import ShardManifest
from tests.doubles.engines import SmallBatches
from tests.doubles.memory_store import MemoryStore
from tests.doubles.mill import Mill, blueprint, json_lines
from tests.sim.virtual import Time, run_virtual

KINDS = 24


@dataclass(frozen=True)
class Job:
    name: str
    records: int
    """Beside those that can't be read."""
    shard_bytes: int
    part_records: int
    batch_records: int
    records_per_second: float
    continuous: bool
    poison: bool
    """Whether the engine raises on some records."""
    unreadable: bool

    @property
    def batch_seconds(self) -> float:
        """Longest time of a batch: a continuous engine's record takes its turn among the slots."""
        if self.continuous:
            return 1.5 * 64 / self.records_per_second
        return self.batch_records / self.records_per_second

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

    def bodies(self) -> dict[str, bytes]:
        texts = [
            f"{'poison' if self.poison and i % 17 == 5 else 'record'} {i}"
            for i in range(self.records)
        ]
        cut = self.records // 3
        unreadable = b'{"other": "no text"}\n{bad\n' if self.unreadable else b""
        return {
            "a.jsonl": json_lines(texts[:cut]) + unreadable,
            "b.jsonl": b"",
            "c.jsonl": json_lines(texts[cut:]),
        }


@dataclass(frozen=True)
class Truth:
    """A job done by one worker that nothing disturbed."""

    mill: Mill
    planned: MemoryStore
    """The run's directory before anybody worked."""
    identity: str
    results: dict[str, bytes]
    rejected: list[tuple[str, ...]]
    records: int
    inferred: int
    """Records that went through the engine and came out with an answer."""
    largest: int
    """Records of the largest shard."""
    seconds: float


def job(number: int) -> Job:
    chance = random.Random(f"job {number}")
    continuous = chance.random() < 0.3
    part = chance.randint(2, 9)
    return Job(
        name=f"job-{number}",
        records=chance.randint(10, 40),
        shard_bytes=chance.choice((250, 500, 700, 1000, 10_000)),
        part_records=part,
        batch_records=1 if continuous else chance.randint(1, part),
        records_per_second=chance.choice((8.0, 16.0) if continuous else (0.5, 1.0, 2.0, 4.0)),
        continuous=continuous,
        poison=chance.random() < 0.4,
        unreadable=chance.random() < 0.4,
    )


@functools.cache
def truth(number: int) -> Truth:
    return _done(job(number))


def _done(job: Job) -> Truth:
    time = Time()
    mill = Mill.planned(job.bodies(), time, job.blueprint())
    planned = mill.run.copy()
    engine = SmallBatches(mill.engine(), records=job.batch_records)

    async def body() -> None:
        await mill.work(engine)

    run_virtual(body, time)
    verdict = mill.verify()
    if verdict.gaps:
        raise AssertionError(f"{job} undisturbed: {verdict.gaps}")
    return Truth(
        mill=mill,
        planned=planned,
        identity=mill.spec.identity(),
        results=mill.results(),
        rejected=rejected(mill.run),
        records=verdict.counts.records,
        inferred=engine.records,
        largest=max(shard.counts.records for shard in _shards(mill)),
        seconds=time.at,
    )


def rejected(run: MemoryStore) -> list[tuple[str, ...]]:
    """Every dead letter, without who wrote it."""
    bodies = [run.get(info.key) for info in run.list("rejected/")]
    letters = [json.loads(line) for body in bodies for line in body.splitlines()]
    return [tuple(v for k, v in letter.items() if k != "attempt") for letter in letters]


def _shards(mill: Mill) -> Iterator[ShardManifest]:
    for shard in range(mill.plan.shards):
        key = layout.shard_manifest(shard)
        yield decode(ShardManifest, mill.run.get(key), key)
