"""The first worlds of `make sim`, and whether the simulator itself can be believed."""

import os
import random
import subprocess
import sys
from functools import partial

import anyio
import pytest

from tests.doubles.memory_queue import MemoryQueue
from tests.doubles.memory_store import MemoryStore
from tests.sim.__main__ import replay, run
from tests.sim.faults import Faults, Line
from tests.sim.faulty_store import FaultyStore, Ledger
from tests.sim.life import DeadWorkerError, Life, Pace
from tests.sim.setting import draw
from tests.sim.strand import Strands
from tests.sim.sweep import live_through
from tests.sim.virtual import StuckError, Time, run_virtual
from tests.sim.world import simulate

SEEDS = range(300)


def test_every_promise_is_kept_whatever_dies() -> None:
    tally = live_through(SEEDS)
    assert tally.violations == {}
    assert min(tally.befell[kind] for kind in ("kill", "pause", "reclaim", "cancel", "join")) > 50
    assert min(tally.endings[how] for how in ("done", "killed", "reclaimed", "storage")) > 50


def test_worlds_differ_in_all_that_a_seed_can_bring() -> None:
    settings = list(map(draw, SEEDS))
    assert {setting.queue for setting in settings} == {"exact", "sqs", "claims"}
    assert len({setting.job for setting in settings}) > 15
    assert any(setting.pace.torn for setting in settings)
    assert any(setting.faults.unanswered for setting in settings)


def test_a_seed_gives_the_same_trace_in_any_process() -> None:
    seeds = [seed for seed in SEEDS if len(draw(seed).troubles) > 3][:6]
    assert any(draw(seed).pace.torn for seed in seeds)
    here = [simulate(seed).trace for seed in seeds]
    assert here == [simulate(seed).trace for seed in seeds]
    for mark in ("1", "2"):
        code = f"from tests.sim.world import simulate; print([simulate(s).trace for s in {seeds}])"
        there = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": mark, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.strip() == str(here)


def test_a_seed_can_be_replayed_with_its_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(3) == 0
    told = capsys.readouterr().out
    assert "starts on m0" in told
    assert "seed 3: every promise was kept" in told


def test_a_broken_promise_is_told_with_its_seed_and_its_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MemoryStore, "put_new", lambda *_: True)
    assert run(range(10)) == 1
    told = capsys.readouterr().out
    assert "starts on m0" in told
    assert "replay it: make sim SEED=" in told


def test_a_world_that_never_ends_breaks_a_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [seed for seed in SEEDS if draw(seed).queue == "exact"]
    soonest = min(exact, key=lambda seed: draw(seed).end_by)
    monkeypatch.setattr(MemoryQueue, "complete", lambda *_: None)
    assert "not finished at" in str(simulate(soonest).violation)


def test_a_world_that_goes_round_in_circles_is_ended() -> None:
    async def spin() -> None:
        while True:
            await anyio.sleep(0)

    with pytest.raises(StuckError, match="no end after"):
        run_virtual(spin, Time())


def test_a_world_in_which_all_wait_for_each_other_is_ended() -> None:
    with pytest.raises(StuckError, match="waits for somebody else"):
        run_virtual(anyio.Event().wait, Time())


def test_hours_pass_at_once() -> None:
    time = Time()

    async def sleep() -> None:
        await anyio.sleep(7 * 3600)

    run_virtual(sleep, time)
    assert time.at == 7 * 3600


@pytest.mark.parametrize("torn", [0.0, 1.0])
def test_the_dead_do_nothing_any_more_not_even_in_a_finally(torn: float) -> None:
    store, ended = MemoryStore(), []

    def twice(door: FaultyStore) -> None:
        try:
            door.put("a", b"1")
            door.put("b", b"2")
        finally:
            door.put("c", b"3")

    async def body() -> None:
        life = lively(time, torn)
        door = FaultyStore(store, Line("store", life, Faults()), Ledger())
        life.kill_after(4)
        with pytest.raises(DeadWorkerError):
            await life.host.offload(twice, door)
        ended.append(True)

    time = Time()
    run_virtual(body, time)
    assert ended
    assert [info.key for info in store.list()] in (["a"], [])


def test_others_act_between_two_requests_of_a_call_that_is_torn() -> None:
    seen: list[str] = []

    def twice(life: Life) -> None:
        for n in (1, 2):
            life.request(partial(seen.append, f"call {n}"), writes=True)

    async def others() -> None:
        while "call 2" not in seen:
            seen.append("others")
            await anyio.sleep(0.01)

    async def body() -> None:
        life = lively(time, torn=1.0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(others)
            await life.host.offload(twice, life)

    time = Time()
    run_virtual(body, time)
    between = seen[seen.index("call 1") : seen.index("call 2")]
    assert "others" in between


def test_a_write_of_the_dead_may_still_arrive() -> None:
    arrived: list[str] = []

    async def body(seed: int) -> None:
        async with anyio.create_task_group() as tasks:

            async def later(seconds: float, request: object) -> None:
                await anyio.sleep(seconds)
                request()  # type: ignore[operator]

            life = lively(time, 1.0, seed)
            life.late = lambda seconds, request: tasks.start_soon(later, seconds, request)

            def write() -> None:
                life.request(lambda: arrived.append("late"), writes=True)

            life.kill_after(2)
            with pytest.raises(DeadWorkerError):
                await life.host.offload(write)

    for seed in range(8):
        time = Time()
        run_virtual(lambda seed=seed: body(seed), time)  # type: ignore[misc]
    assert 0 < len(arrived) < 8


def lively(time: Time, torn: float, seed: int = 1) -> Life:
    pace = Pace(seconds=1.0, held_up=0.0, torn=torn)
    return Life("w", time, random.Random(seed), pace, Strands(), lambda *_: None)
