"""Goodput: how much of the speed is left while workers are killed, in one run beside the other."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from tests.bench.conftest import Bench
from tests.doubles.folder_run import SELFTEST, FolderRun

pytestmark = pytest.mark.bench

WORKERS = 4
RATE = 200.0
"""Records a second and worker: a small language model on a cheap GPU."""
SECONDS = 80
KILL_EVERY = 20.0
RECORDS = int(WORKERS * RATE * SECONDS)


def start(folder: Path) -> "subprocess.Popen[bytes]":
    settings = (f"task.engine.records_per_second={RATE}", "part.records=100", "shard.bytes=100KB")
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "gristmill", "run", str(SELFTEST), "--run-id", "r"),
            *("--input", "in", "--output", "out", "--workers", str(WORKERS), "--json"),
            *(word for setting in settings for word in ("--set", setting)),
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "stderr").open("wb"),
        start_new_session=True,
    )


def kill_until(ended: threading.Event, launcher: psutil.Process, killed: list[int]) -> None:
    """A worker, chosen by chance, every so often."""
    chance = random.Random(5)
    while not ended.wait(KILL_EVERY):
        workers = launcher.children()
        if workers:
            victim = chance.choice(workers)
            killed.append(victim.pid)
            victim.kill()


def measured(place: FolderRun, *, kills: bool) -> tuple[float, list[int]]:
    """(wall seconds, workers killed)."""
    began, ended, killed = time.perf_counter(), threading.Event(), list[int]()
    going = start(place.folder)
    killer = threading.Thread(
        target=kill_until, args=(ended, psutil.Process(going.pid), killed), daemon=True
    )
    if kills:
        killer.start()
    code = going.wait()
    ended.set()
    seconds = time.perf_counter() - began
    assert code == 0, (place.folder / "stderr").read_text()[-2000:]
    return seconds, killed


def test_a_worker_killed_every_20_seconds_leaves_nine_tenths_of_the_speed(
    tmp_path: Path, bench: Bench
) -> None:
    texts = [f"record number {index}" for index in range(RECORDS)]
    places = []
    for name in ("undisturbed", "disturbed"):
        (tmp_path / name).mkdir()
        places.append(FolderRun(tmp_path / name))
        places[-1].put("a.jsonl", texts)
    calm, _ = measured(places[0], kills=False)
    rough, killed = measured(places[1], kills=True)
    assert len(killed) >= 3
    assert places[1].results() == places[0].results()
    note = f"{len(killed)} of {WORKERS} workers killed, {calm:.0f} s and {rough:.0f} s"
    bench.at_least("goodput: a kill every 20 s over 4 workers", calm / rough, 0.90, note)
