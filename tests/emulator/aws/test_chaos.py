"""Four worker processes on S3 and SQS that are killed, stopped and told to go, while S3 fails.

`make chaos` goes on for five minutes, the gate for one.
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gristmill.client.finish import finish, verify
from gristmill.client.plan import Run
from gristmill.client.state import read_state
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy
from tests.emulator.aws.bad_day import BadDay, Odds, bad_day
from tests.emulator.aws.cloud import Cloud, cloud_at
from tests.emulator.aws.environment import MissingToolError
from tests.emulator.aws.localstack import localstack, python

pytestmark = [pytest.mark.emulator, pytest.mark.slow]

SECONDS = float(os.environ.get("CHAOS_SECONDS", "60"))
WORKERS = 4
RATE = 40.0
"""Records a second and worker."""
PART = 50
LEASE_SECONDS = 15
TROUBLE_EVERY = 4.0
LONGEST_STOP = 25.0
"""Longer than a lease: what was stopped comes back to work that is another's."""
PATIENCE = 120.0
ENDINGS = (
    *(ExitCode.DONE, ExitCode.RECLAIMED, ExitCode.STORAGE),
    *(-signal.SIGKILL, -signal.SIGTERM),  # told to go before it could listen
)
TEXTS = [f"record number {n}" for n in range(int(WORKERS * RATE * SECONDS * 0.4))]


@dataclass
class Fleet:
    """Machines: each has a worker, and a new one when it ended before the work did."""

    cloud: Cloud
    run: Run
    logs: Path
    """Where each worker's log is: a full pipe would stop it."""
    chance: random.Random
    places: list["subprocess.Popen[bytes] | None"] = field(default_factory=list)
    stopped: dict[int, float] = field(default_factory=dict)
    """Process -> when it is let go on."""
    told: Counter[str] = field(default_factory=Counter)
    endings: Counter[int] = field(default_factory=Counter)

    def tend(self) -> bool:
        """Replace the dead; whether anybody still works."""
        while len(self.places) < WORKERS:
            self.places.append(self._start())
        for index, worker in enumerate(self.places):
            if worker is None or (code := worker.poll()) is None:
                continue
            self.endings[code] += 1
            assert code in ENDINGS, f"a worker ended with {code}, see {self.logs}"
            self.places[index] = None if code == ExitCode.DONE else self._start()
        for pid, until in list(self.stopped.items()):
            if time.monotonic() >= until:
                del self.stopped[pid]
                self._signal(pid, signal.SIGCONT)
        return any(worker is not None for worker in self.places)

    def trouble(self) -> None:
        living = [w.pid for w in self.places if w is not None and w.pid not in self.stopped]
        if not living:
            return
        pid, what = self.chance.choice(living), self.chance.choice(("KILL", "STOP", "TERM"))
        self.told[what] += 1
        self._signal(pid, signal.Signals[f"SIG{what}"])
        if what == "STOP":
            self.stopped[pid] = time.monotonic() + self.chance.uniform(1, LONGEST_STOP)

    def _start(self) -> "subprocess.Popen[bytes]":
        path = self.logs / f"{len(self.cloud.workers)}.jsonl"
        with path.open("wb") as log:
            return self.cloud.start(self.run, log)

    def _signal(self, pid: int, what: signal.Signals) -> None:
        if any(worker is not None and worker.pid == pid for worker in self.places):
            os.kill(pid, what)


@pytest.fixture
def cloud(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cloud]:
    try:
        python()
    except MissingToolError as missing:
        pytest.skip(str(missing))
    with (
        localstack(tmp_path_factory.mktemp("localstack")) as url,
        cloud_at(url, "chaos", monkeypatch) as made,
    ):
        yield made


@pytest.fixture
def day(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[BadDay]:
    with bad_day(os.environ["AWS_ENDPOINT_URL"], Odds(), seed=11) as day:
        monkeypatch.setenv("AWS_ENDPOINT_URL", day.url)
        yield day


def test_whatever_dies_no_record_is_lost_and_none_is_there_twice(
    cloud: Cloud, day: BadDay, tmp_path: Path
) -> None:
    run = cloud.plan(
        TEXTS,
        "shard.bytes=30KB",
        f"part.records={PART}",
        f"task.engine.records_per_second={RATE}",
    )
    cloud.make_queue(lease_seconds=LEASE_SECONDS, attempts=1000)
    assert cloud.enqueue(run) == run.plan.shards
    fleet = Fleet(cloud, run, tmp_path, random.Random(11))
    began = time.monotonic()
    next_trouble = began + TROUBLE_EVERY
    while fleet.tend():
        now = time.monotonic()
        assert now < began + SECONDS + PATIENCE, f"no end: {fleet.endings}, {tmp_path}"
        if next_trouble <= now < began + SECONDS:
            fleet.trouble()
            next_trouble = now + TROUBLE_EVERY
        time.sleep(0.1)
    finish(run, Policy.of(run.spec.blueprint))
    assert cloud.texts() == TEXTS
    assert verify(run, deep=True).gaps == []
    assert cloud.queue(run).outstanding() == 0
    assert set(fleet.told) == {"KILL", "STOP", "TERM"}
    assert set(day.befell) == {"busy", "reset", "unanswered", "cut"}
    lost = sum(attempt.lost_records for attempt in read_state(run.store).attempts)
    print(
        f"{len(TEXTS):,} records, {dict(fleet.told)}, {dict(day.befell)}, "
        f"endings {dict(fleet.endings)}, "
        f"{lost:,} records told of as lost, {time.monotonic() - began:.0f} s"
    )
