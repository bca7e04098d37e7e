"""A run on this machine, from plan to report."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Protocol

import anyio
import anyio.to_thread

from gristmill.client.failures import record_failures
from gristmill.client.finish import finish
from gristmill.client.launch import Crew, Ending, Launch
from gristmill.client.plan import Run
from gristmill.client.progress import Progress
from gristmill.client.report import Report
from gristmill.client.state import RunState, read_state
from gristmill.contract import layout
from gristmill.contract.clock import Clock
from gristmill.contract.errors import GristmillError
from gristmill.contract.manifest import Control
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy
from gristmill.contract.ticket import Ticket
from gristmill.queue.open import open_queue
from gristmill.queue.protocol import WorkQueue
from gristmill.runtime.budget import check_rejected
from gristmill.runtime.control import cancelled, want
from gristmill.store.open import whose

DRAW_SECONDS = 0.25
CONTROL_SECONDS = 2.0
"""Between looks at whether the run was cancelled."""


class View(Protocol):
    """Shows a run as it goes."""

    def draw(self, progress: Progress, at: float) -> None: ...


def go(run: Run, policy: Policy, workers: int, clock: Clock, view: View) -> Report:
    """Work on a run until it is finished or stops, and report. The report holds the exit code;
    nothing is raised for what can happen to a run."""
    state = read_state(run.store)
    if state.manifest is not None:
        return Report.of(run, state, policy.capacity.usd_per_hour)
    if state.cancelled:
        want(run.store, Control(wanted="work", at=clock.now()))
    began = clock.monotonic()
    progress = Progress(
        shards=run.plan.shards,
        began=began,
        usd_per_hour=policy.capacity.usd_per_hour,
        workers=workers,
        before=state.counts,
        shards_done=len(state.shards),
    )
    ending = _work(run, state, policy, workers, clock, view, progress)
    if ending.code is ExitCode.DONE:
        ending = _finish(run, policy)
    return Report.of(
        run,
        read_state(run.store),
        policy.capacity.usd_per_hour,
        wall_seconds=clock.monotonic() - began,
        done_here=progress.here,
        code=ending.code,
        message=ending.message,
    )


def _work(
    run: Run,
    state: RunState,
    policy: Policy,
    workers: int,
    clock: Clock,
    view: View,
    progress: Progress,
) -> Ending:
    pending = [index for index in range(run.plan.shards) if index not in state.shards]
    if not pending:
        return Ending()
    place = queue_place(run.store.uri)
    queue = open_queue(place, now=clock.now, token=lambda: "", attempts=policy.capacity.attempts)
    queue.fill(map(Ticket, pending))
    crew = Crew(run.store.uri, place, workers, policy)

    async def supervise() -> Ending:
        launch = Launch(crew, _listener(policy, clock, progress), Random().random)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, launch, policy, clock, view, progress)
            tasks.start_soon(_watch_control, launch, run, clock)
            ending = await launch.run()
            tasks.cancel_scope.cancel()
        view.draw(progress, clock.monotonic())
        return ending

    ending = anyio.run(supervise)
    if ending.code is ExitCode.DONE:
        ending = _given_up(run, queue, clock)
    return ending


def _given_up(run: Run, queue: WorkQueue, clock: Clock) -> Ending:
    """Record the tickets whose every attempt was spent: never silently gone."""
    failures = record_failures(run, queue, clock.now)
    if not failures:
        return Ending()
    first = failures[0]
    return Ending(
        ExitCode.ENGINE_DEAD,
        f"{len(failures)} of {run.plan.shards} shards were given up, shard {first.shard} after "
        f"{first.receives} attempts; the rest is kept. `gristmill status` names them, the "
        "attempts' reports say how their workers ended, `gristmill resume` tries again",
    )


def _listener(policy: Policy, clock: Clock, progress: Progress) -> Callable[[dict[str, Any]], None]:
    def listen(event: dict[str, Any]) -> None:
        progress.take(event, clock.monotonic())
        check_rejected(policy.errors, progress.total, finished=False)

    return listen


async def _watch(
    launch: Launch, policy: Policy, clock: Clock, view: View, progress: Progress
) -> None:
    while True:
        await clock.sleep(DRAW_SECONDS)
        at = clock.monotonic()
        view.draw(progress, at)
        if policy.deadline is not None and at - progress.began > policy.deadline:
            launch.stop(ExitCode.RECLAIMED, "deadline reached; everything finished is kept")
        usd = progress.usd(at)
        if policy.budget is not None and usd is not None and usd > policy.budget.max_usd:
            launch.stop(ExitCode.RECLAIMED, "budget.max_usd is spent; everything finished is kept")


async def _watch_control(launch: Launch, run: Run, clock: Clock) -> None:
    """Heed `gristmill cancel` sooner than the workers do."""
    while True:
        await clock.sleep(CONTROL_SECONDS)
        if await anyio.to_thread.run_sync(cancelled, run.store):
            launch.stop(
                ExitCode.RECLAIMED, "cancelled; everything finished is kept, the rest is not run"
            )
            return


def _finish(run: Run, policy: Policy) -> Ending:
    try:
        finish(run, policy)
    except GristmillError as error:
        return Ending(error.exit_code, str(error))
    return Ending()


def queue_place(run_uri: str) -> str:
    """Beside a local run; else a scratch file of this machine: a queue is made again from the
    manifests whenever it is lost."""
    if "://" not in run_uri:
        return f"local:{Path(run_uri) / layout.QUEUE}"
    name = hashlib.sha256(whose(run_uri).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gristmill-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return f"local:{folder / name}.sqlite"
