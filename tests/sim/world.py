"""A world: the real worker, lease, queue, commit and verify code under whatever its seed brings."""

import random
from collections import Counter
from dataclasses import dataclass
from unittest.mock import patch

import anyio

from gristmill.runtime import worker
from tests.sim.fleet import Fleet
from tests.sim.judge import ViolationError, allowed_waste, judge
from tests.sim.services import Services
from tests.sim.setting import Setting, draw
from tests.sim.trace import Trace
from tests.sim.virtual import Time, run_virtual

POLL_SECONDS = 3.0
"""Longer than in production: half of a world's steps would be those of workers that wait."""


@dataclass(frozen=True)
class Ending:
    """How a world came to its end."""

    setting: Setting
    befell: Counter[str]
    endings: Counter[str]
    wasted: int
    allowed: int
    seconds: float
    trace: list[str]
    violation: str | None


def simulate(seed: int) -> Ending:
    """One world to its end, whatever that is."""
    setting, time = draw(seed), Time()
    services, trace = Services.of(setting, time), Trace(time)
    fleet = Fleet(setting, services, random.Random(f"fleet {seed}"), trace)
    violation = None
    try:
        with patch.object(worker, "POLL_SECONDS", POLL_SECONDS):
            run_virtual(lambda: _live(fleet, time), time)
        judge(setting, services, fleet)
    except Exception as error:  # noqa: BLE001 - any is a violation, and its trace is wanted
        violation = _told(error)
        trace.note("VIOLATION", violation)
    return Ending(
        setting=setting,
        befell=fleet.befell,
        endings=fleet.endings,
        wasted=sum(engine.records for engine in fleet.engines) - setting.truth.inferred,
        allowed=allowed_waste(setting, services, fleet),
        seconds=time.at,
        trace=trace.lines,
        violation=violation,
    )


async def _live(fleet: Fleet, time: Time) -> None:
    with anyio.move_on_after(fleet.setting.end_by) as patience:
        await fleet.work()
    if patience.cancelled_caught:
        raise ViolationError(f"not finished at {time.at:.0f} s of virtual time")


def _told(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(_told, error.exceptions))
    return f"{type(error).__name__}: {error}"
