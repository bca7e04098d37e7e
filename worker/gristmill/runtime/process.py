"""The worker process: reads its environment, builds everything, runs one Worker, tells the end."""

import gc
import os
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

import anyio

from gristmill.contract import layout, process
from gristmill.contract.canonical import decode
from gristmill.contract.errors import ConfigError, GristmillError, SpecMismatchError
from gristmill.contract.location import locate
from gristmill.contract.model import model_revision
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy, RunSpec
from gristmill.contract.shard import ShardPlan
from gristmill.engines.load import load_engine
from gristmill.engines.protocol import Engine
from gristmill.formats.open import open_reader, open_writer
from gristmill.queue.open import QueueRun, open_queue
from gristmill.runtime.commit import Commit
from gristmill.runtime.failure import explain
from gristmill.runtime.host import Host, WallClock, in_thread
from gristmill.runtime.interrupt import watch
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.telemetry import Emit, Tally, publish_report, stderr_events
from gristmill.runtime.worker import Worker, Workplace
from gristmill.store.open import open_store
from gristmill.store.protocol import ObjectStore

T = TypeVar("T")

COLLECTOR_PACE = (200_000, 20, 100)
SWITCH_SECONDS = 0.001
FORCE_SECONDS = 20.0
"""For an orderly end of a worker whose engine hangs."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment tells a worker."""

    run: str
    queue: str
    attempt: str
    threads: int | None
    share: float
    quiet: float | None
    policy: Policy | None

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """Raises ConfigError naming the variable that is missing or wrong."""
        try:
            run, queue = env[process.ENV_RUN], env[process.ENV_QUEUE]
        except KeyError as missing:
            raise ConfigError(
                f"{missing.args[0]} is not set; a worker is started by `gristmill run` or by a job"
            ) from None
        return cls(
            run=run,
            queue=queue,
            attempt=env.get(process.ENV_ATTEMPT) or _token(),
            threads=_value(env, process.ENV_THREADS, int),
            share=_value(env, process.ENV_SHARE, float) or 1.0,
            quiet=_value(env, process.ENV_QUIET, float),
            policy=_value(env, process.ENV_POLICY, Policy.model_validate_json),
        )


def _value(env: Mapping[str, str], name: str, parse: Callable[[str], T]) -> T | None:
    """None where the variable is absent or empty."""
    text = env.get(name)
    if not text:
        return None
    try:
        return parse(text)
    except ValueError:
        raise ConfigError(f"{name}: got {text!r}, which can't be understood") from None


def main() -> ExitCode:
    """Run one worker to its end; the last event says how it ended."""
    clock = WallClock()
    try:
        settings = Settings.from_environment(os.environ)
    except GristmillError as error:
        stderr_events("", clock.now)("ended", exit_code=int(error.exit_code), message=str(error))
        return error.exit_code
    emit = stderr_events(settings.attempt, clock.now)
    tally = Tally(settings.attempt, clock, settings.share)
    # A worker makes millions of records and no cycles of them: the collector's default pace costs
    # a third of the time of a fast engine, and finds nothing.
    gc.set_threshold(*COLLECTOR_PACE)
    # The three stages hand over many times a second; at the default of 5 ms a stage that computes
    # keeps the others waiting that long at each hand-over.
    sys.setswitchinterval(SWITCH_SECONDS)
    code, message = _ending(lambda: anyio.run(_attempt, settings, tally, emit), emit)
    report = tally.report(code, message)
    told, _ = _ending(lambda: publish_report(open_store(settings.run), report), emit)
    code = code or told
    emit("ended", exit_code=int(code), message=message, peak_rss=report.peak_rss)
    return code


def _ending(call: Callable[[], None], emit: Emit) -> tuple[ExitCode, str | None]:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the last stop of every exception
        code, message, frames = explain(error)
        emit("failed", exit_code=int(code), message=message, frames=frames)
        return code, message
    return ExitCode.DONE, None


async def _attempt(settings: Settings, tally: Tally, emit: Emit) -> None:
    host = Host(WallClock(), in_thread)
    stop = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, stop, host, emit, os.environ)
        run = open_store(settings.run)
        body = await host.offload(run.get, layout.RUN)
        spec = decode(RunSpec, body, f"{run.uri}/{layout.RUN}")
        engine = await _load(spec, settings, host, tally, emit)
        try:
            place = await host.offload(_workplace, settings, host, run, spec, engine, tally, emit)
            await Worker(place).run(stop)
        finally:
            with anyio.CancelScope(shield=True):
                await engine.aclose()
        tasks.cancel_scope.cancel()


async def _load(spec: RunSpec, settings: Settings, host: Host, tally: Tally, emit: Emit) -> Engine:
    task = spec.blueprint.task
    began = host.clock.monotonic()
    revision = await host.offload(model_revision, task)
    if revision != spec.model_revision:
        raise SpecMismatchError(
            f"the model here is not the one this run began with: {revision}, the run has "
            f"{spec.model_revision}; restore the model, or start a new run"
        )
    emit("loading", engine=task.engine.kind)
    engine = await host.offload(
        partial(
            load_engine,
            task,
            dialect=spec.blueprint.output.format.kind,
            seed=spec.blueprint.seed,
            threads=settings.threads,
            clock=host.clock,
        )
    )
    tally.load_seconds = host.clock.monotonic() - began
    emit("loaded", seconds=round(tally.load_seconds, 3))
    return engine


def _workplace(
    settings: Settings,
    host: Host,
    run: ObjectStore,
    spec: RunSpec,
    engine: Engine,
    tally: Tally,
    emit: Emit,
) -> Workplace:
    blueprint, identity = spec.blueprint, spec.identity()
    plan = decode(ShardPlan, run.get(layout.PLAN), f"{run.uri}/{layout.PLAN}")
    writer = open_writer(blueprint.output.format, engine.profile.columns, plan.carried)
    output = open_store(blueprint.output.uri)
    policy = settings.policy or Policy.of(blueprint)
    return Workplace(
        host=host,
        spec=spec,
        errors=policy.errors,
        run=run,
        inputs=open_store(locate(blueprint.input.uri).root),
        plan=PlanPages(run, plan),
        queue=open_queue(
            settings.queue,
            now=host.clock.now,
            token=_token,
            attempts=policy.capacity.attempts,
            run=QueueRun(run, plan.shards, host.clock.monotonic, os.environ),
            tell=emit,
            quiet_seconds=settings.quiet,
        ),
        engine=engine,
        reader=open_reader(blueprint.input, plan.carry),
        commit=Commit(run, output, writer, engine.profile.columns, identity, settings.attempt),
        tally=tally,
        emit=emit,
        on_stall=_end_by_force,
    )


def _end_by_force() -> None:
    """A hung engine keeps its thread, and a process waits for its threads: a clean end may never
    come. What ends the process, and a new one, is the engine's restart."""
    timer = threading.Timer(FORCE_SECONDS, os._exit, (int(ExitCode.ENGINE_DEAD),))
    timer.daemon = True
    timer.start()


def _token() -> str:
    return uuid.uuid4().hex[:12]


if __name__ == "__main__":
    sys.exit(main())
