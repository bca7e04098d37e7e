"""Machines with workers on them, that come, are paused, are taken away, and come again."""

import math
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup

from gristmill.contract.errors import ReclaimedError, StorageError
from gristmill.contract.manifest import Control
from gristmill.engines.load import load_engine
from gristmill.formats.open import open_writer
from gristmill.runtime.commit import Commit
from gristmill.runtime.control import want
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.telemetry import Tally
from gristmill.runtime.worker import Worker, Workplace
from tests.doubles.engines import SmallBatches
from tests.sim.job import job
from tests.sim.life import DeadWorkerError, Life
from tests.sim.services import Services
from tests.sim.setting import NOTICE_SECONDS, Setting, Trouble
from tests.sim.strand import Request, Strands
from tests.sim.trace import Trace

STRANDS = Strands()


class BadEndError(AssertionError):
    """A worker ended as none should."""


@dataclass
class Machine:
    number: int
    life: Life | None = None
    leaves: bool = False


@dataclass
class Fleet:
    setting: Setting
    services: Services
    chance: random.Random
    trace: Trace
    machines: list[Machine] = field(default_factory=list)
    here: int = 0
    """Machines that will come back until the work is done."""
    attempts: int = 0
    engines: list[SmallBatches] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    befell: Counter[str] = field(default_factory=Counter)
    divided: int = 0
    wanted: bool = True
    resumes: int = 0

    async def work(self) -> None:
        """Until no machine has anything to do."""
        async with anyio.create_task_group() as tasks:
            for _ in range(self.setting.workers):
                self._join(tasks)
            tasks.start_soon(self._befall_all, tasks)

    def _join(self, tasks: TaskGroup) -> None:
        machine = Machine(len(self.machines))
        self.machines.append(machine)
        self.here += 1
        tasks.start_soon(self._keep, machine, tasks)

    async def _keep(self, machine: Machine, tasks: TaskGroup) -> None:
        """One worker after another on a machine, until one says that the work is done."""
        while True:
            resumes = self.resumes
            ending = await self._attempt(machine, tasks)
            if ending == "done" and self.wanted and resumes == self.resumes:
                break
            if machine.leaves and self.here > 1:
                self.trace.note(f"m{machine.number}", "leaves")
                break
            await anyio.sleep(self.chance.uniform(0.5, 5))
            while not self.wanted:
                await anyio.sleep(1)
        self.here -= 1

    async def _attempt(self, machine: Machine, tasks: TaskGroup) -> str:
        life = Life(
            name=f"w{self.attempts}",
            time=self.services.time,
            chance=random.Random(f"life {self.setting.seed} {self.attempts}"),
            pace=self.setting.pace,
            strands=STRANDS,
            late=lambda seconds, request: tasks.start_soon(self._arrive, seconds, request),
            skew=self.chance.uniform(-1, 1) * self.setting.skew,
        )
        self.attempts += 1
        machine.life = life
        self.trace.note(life.name, f"starts on m{machine.number}")
        ending = "done"
        try:
            with life.scope:
                await Worker(self._workplace(life, machine)).run(life.stop)
        except BaseException as error:
            if anyio.current_effective_deadline() == -math.inf:
                raise  # the world's time is up, which is not this worker's doing
            ending = "killed" if life.dead else _ending(error)
            if ending == "bad":
                raise BadEndError(f"{life.name} ended with {error!r}") from error
        if life.dead:
            ending = "killed"
        life.dead = True
        self.befell["delay"] += life.delays
        machine.life = None
        self.endings[ending] += 1
        self.trace.note(life.name, f"ends: {ending}")
        return ending

    async def _arrive(self, seconds: float, request: Request) -> None:
        await anyio.sleep(seconds)
        self.trace.note("late", "a write of the dead arrives")
        try:
            request()
        except Exception:  # noqa: BLE001 - nobody is there to hear it
            self.trace.note("late", "and fails")

    def _workplace(self, life: Life, machine: Machine) -> Workplace:
        truth, services, host = self.setting.truth, self.services, life.host
        spec = truth.mill.spec
        run, inputs, output = (
            services.store(store, life)
            for store in (services.run, services.inputs, services.output)
        )
        loaded = load_engine(
            spec.blueprint.task, dialect="jsonl", seed=0, threads=None, clock=host.clock
        )
        engine = SmallBatches(loaded, records=job(self.setting.job).batch_records)
        self.engines.append(engine)
        self.tallies.append(Tally(life.name, host.clock, 1.0))
        columns = engine.profile.columns
        writer = open_writer(spec.blueprint.output.format, columns, ())
        return Workplace(
            host=host,
            spec=spec,
            errors=spec.blueprint.errors,
            run=run,
            inputs=inputs,
            plan=PlanPages(run, truth.mill.plan),
            queue=services.queue(life, machine.number),
            engine=engine,
            reader=truth.mill.reader,
            commit=Commit(run, output, writer, columns, truth.identity, life.name),
            tally=self.tallies[-1],
            emit=lambda event, **fields: self._hear(life, event, fields),
        )

    def _hear(self, life: Life, event: str, fields: dict[str, Any]) -> None:
        self.divided += event == "handed_back"
        if not life.dead:
            self.trace.note(life.name, event, **fields)

    async def _befall_all(self, tasks: TaskGroup) -> None:
        time = self.services.time
        for trouble in self.setting.troubles:
            await anyio.sleep(max(0.0, trouble.at - time.at))
            tasks.start_soon(self._befall, trouble, tasks)
        await anyio.sleep(max(0.0, self.setting.calm_at - time.at))
        self.trace.note("fate", "calms down")
        self.services.calm_down()

    async def _befall(self, trouble: Trouble, tasks: TaskGroup) -> None:
        if trouble.kind == "cancel":
            await self._cancel(trouble.seconds)
            return
        living = [machine for machine in self.machines if machine.life is not None]
        if not living:
            return
        machine = self.chance.choice(living)
        life = machine.life
        assert life is not None
        self.befell[trouble.kind] += 1
        match trouble.kind:
            case "join":
                self.trace.note("fate", "join")
                self._join(tasks)
            case "kill":
                self.trace.note("fate", f"kill {life.name}", steps=trouble.steps)
                machine.leaves = trouble.leaves
                life.kill_after(trouble.steps) if trouble.steps else life.kill()
            case "pause":
                self.trace.note("fate", f"pause {life.name}", seconds=trouble.seconds)
                life.pause()
                await anyio.sleep(trouble.seconds)
                life.resume()
                self.trace.note("fate", f"resume {life.name}")
            case "reclaim":
                self.trace.note("fate", f"reclaim {life.name}")
                machine.leaves = trouble.leaves
                life.stop.set()
                await anyio.sleep(NOTICE_SECONDS)
                life.kill()

    async def _cancel(self, seconds: float) -> None:
        if not self.wanted:
            return
        self.befell["cancel"] += 1
        self.wanted = False
        self.trace.note("fate", "cancel the run")
        want(self.services.run, Control(wanted="cancel", at=0))
        await anyio.sleep(seconds)
        self.trace.note("fate", "resume the run")
        want(self.services.run, Control(wanted="work", at=0))
        self.wanted = True
        self.resumes += 1


def _ending(error: BaseException) -> str:
    leaves = list(_leaves(error))
    if any(isinstance(leaf, DeadWorkerError) for leaf in leaves):
        return "killed"
    if any(isinstance(leaf, StorageError) for leaf in leaves):
        return "storage"
    if any(isinstance(leaf, ReclaimedError) for leaf in leaves):
        return "reclaimed"
    return "bad"


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]
