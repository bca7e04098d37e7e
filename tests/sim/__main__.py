"""make sim: many worlds; make sim SEED=123: one, and all that happened in it."""

import argparse
import os
import sys
import time

from tests.sim.job import job
from tests.sim.sweep import Tally, settle_in, sweep
from tests.sim.world import simulate

SEEDS = 10_000
STEPS = 10
"""Lines of progress."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many worlds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this one alone, with its trace")
    given = parser.parse_args()
    if given.seed is not None:
        return replay(given.seed)
    return run(range(given.first, given.first + given.seeds))


def run(seeds: range) -> int:
    began = time.perf_counter()
    tally, said = Tally(), 0
    for tally in sweep(seeds, os.cpu_count() or 1):
        if tally.worlds * STEPS // len(seeds) > said and tally.worlds < len(seeds):
            said = tally.worlds * STEPS // len(seeds)
            print(f"sim: {tally.worlds:,} of {len(seeds):,} seeds", flush=True)
        if tally.violations:
            break
    seconds = time.perf_counter() - began
    if tally.violations:
        replay(min(tally.violations))
    print(summary(tally, seconds))
    return 1 if tally.violations else 0


def summary(tally: Tally, seconds: float) -> str:
    befell = tally.befell
    return (
        f"sim: {tally.worlds:,} seeds, {befell['kill']:,} kills, {befell['pause']:,} pauses, "
        f"{befell['reclaim']:,} reclaims, {befell['cancel']:,} cancels, "
        f"{tally.endings['storage']:,} ends by storage, {tally.seconds / 3600:,.0f} h of virtual "
        f"time, {len(tally.violations)} violations, {seconds:.0f} s"
    )


def replay(seed: int) -> int:
    settle_in()
    ending = simulate(seed)
    print(f"{ending.setting}\n{job(ending.setting.job)}", *ending.trace, sep="\n")
    if ending.violation is None:
        print(f"seed {seed}: every promise was kept")
        return 0
    print(f"seed {seed}: {ending.violation}\nreplay it: make sim SEED={seed}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
