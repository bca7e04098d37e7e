"""Many worlds, in as many processes as there are cores."""

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.sim.fleet import STRANDS
from tests.sim.world import simulate

AT_ONCE = 50
"""Worlds that a process lives through before it reports."""
MEMORY = Path("/dev/shm")


@dataclass
class Tally:
    worlds: int = 0
    befell: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    """Of virtual time."""
    wasted: int = 0
    violations: dict[int, str] = field(default_factory=dict)
    """Seed -> what was broken."""

    def add(self, other: "Tally") -> None:
        self.worlds += other.worlds
        self.befell += other.befell
        self.endings += other.endings
        self.seconds += other.seconds
        self.wasted += other.wasted
        self.violations |= other.violations


def sweep(seeds: range, processes: int) -> Iterator[Tally]:
    """The tally of all so far, each time some more are done."""
    total = Tally()
    some = [seeds[at : at + AT_ONCE] for at in range(0, len(seeds), AT_ONCE)]
    with ProcessPoolExecutor(processes, initializer=settle_in) as pool:
        for tally in pool.map(live_through, some):
            total.add(tally)
            yield total


def settle_in() -> None:
    """Scratch files in memory, and no search for garbage among what was imported."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        tempfile.tempdir = str(MEMORY)
    STRANDS.forget()
    gc.freeze()


def live_through(seeds: range) -> Tally:
    tally = Tally()
    for ending in map(simulate, seeds):
        tally.worlds += 1
        tally.befell += ending.befell
        tally.endings += ending.endings
        tally.seconds += ending.seconds
        tally.wasted += ending.wasted
        if ending.violation is not None:
            tally.violations[ending.setting.seed] = ending.violation
    return tally
