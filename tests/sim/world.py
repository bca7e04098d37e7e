"""A world: the real worker code, on virtual time, under whatever its seed brings."""

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import trio

from gristmill.contract.errors import EngineDeadError, ReclaimedError, StorageError
from gristmill.contract.manifest import Control
from gristmill.contract.ticket import Ticket
from gristmill.engines.load import load_engine
from gristmill.formats.open import open_writer
from gristmill.queue.protocol import WorkQueue
from gristmill.runtime.commit import Commit
from gristmill.runtime.control import want
from gristmill.runtime.part import parts_ahead
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.telemetry import Tally
from gristmill.runtime.worker import Worker, Workplace
from tests.doubles.engines import SmallBatches
from tests.doubles.mill import Mill
from tests.sim.door import Door
from tests.sim.faulty_store import Faults, FaultyStore, Ledger
from tests.sim.life import DeadWorkerError, Life
from tests.sim.loose_queue import LooseQueue
from tests.sim.scheduling import run_seeded
from tests.sim.setting import LEASE_SECONDS, Setting, Trouble, draw, undisturbed

NOTICE_SECONDS = 30.0
LONGEST_SECONDS = 6 * 3600.0
"""Of virtual time, after which a world that is calm counts as stuck."""


class ViolationError(AssertionError):
    """A promise was broken."""


@dataclass
class World:
    setting: Setting
    mill: Mill
    queue: WorkQueue
    chance: random.Random
    faults: Faults
    ledger: Ledger = field(default_factory=Ledger)
    lives: list[Life] = field(default_factory=list)
    engines: list[SmallBatches] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    trace: list[str] = field(default_factory=list)
    wanted: trio.Event = field(default_factory=trio.Event)
    cancelled: bool = False
    divided: bool = False
    left: int = 0
    """In the queue, at the end."""

    def note(self, who: str, what: str, **fields: Any) -> None:
        self.trace.append(f"{trio.current_time():10.3f} {who:8} {what} {fields or ''}")

    async def live(self) -> None:
        with trio.move_on_after(LONGEST_SECONDS) as patience:
            async with trio.open_nursery() as nursery:
                for _ in range(self.setting.workers):
                    nursery.start_soon(self._place)
                nursery.start_soon(self._troubles, nursery)
        if patience.cancelled_caught:
            raise ViolationError(f"stuck: not finished after {LONGEST_SECONDS:.0f} s")
        queue = self.queue
        exact = len(queue.messages) if isinstance(queue, LooseQueue) else queue.outstanding()
        self.left = exact

    def judge(self) -> None:
        """The promises."""
        mill, records = self.mill, self.setting.job.records + 2
        if self.ledger.overwritten:
            raise ViolationError(f"written over: {self.ledger.overwritten[:3]}")
        if self.left:
            raise ViolationError(f"the queue is not empty: {self.left}")
        if mill.results() != undisturbed(self.setting.job):
            missing = undisturbed(self.setting.job).keys() - mill.results().keys()
            raise ViolationError(f"results differ from an undisturbed run; missing: {missing}")
        verdict = mill.verify(deep=True)
        if verdict.gaps:
            raise ViolationError(f"gaps: {verdict.gaps[:3]}")
        if verdict.counts.records != records:
            raise ViolationError(f"{verdict.counts.records} outcomes for {records} records")
        self._judge_waste(records)

    def _judge_waste(self, records: int) -> None:
        """What an abrupt end may lose is what was in hand: the part in the engine, those that wait
        beside it, the one being published; and, once work was divided, a root ticket that comes
        back covers its handed-back half too. A reclaim loses nothing that ended. Pauses, repeats
        and cancelled leases let two work on one ticket, and have no such bound."""
        if self.setting.loose or self.setting.has & {"pause", "cancel"}:
            return
        job = self.setting.job
        slots = 64 if job.continuous else 1
        in_hand = job.part_records * (parts_ahead(slots, job.part_records) + 2)
        abrupt = self.endings["killed"] + self.endings["storage"]
        allowed = records + abrupt * (in_hand + (records if self.divided else 0))
        inferred = sum(engine.records for engine in self.engines)
        if inferred > allowed:
            raise ViolationError(f"{inferred} records inferred for {records}, {allowed} allowed")

    async def _place(self) -> None:
        """A machine, and the ones that come after it."""
        while True:
            ending = await self._attempt()
            if ending == "done" and not self.cancelled:
                return
            if self.cancelled:
                await self.wanted.wait()
            await trio.sleep(self.chance.uniform(1, 5))

    async def _attempt(self) -> str:
        life = Life(
            f"w{len(self.lives)}",
            random.Random(self.chance.random()),
            self.setting.slowness,
            self.chance.uniform(-1, 1) * self.setting.skew,
        )
        life.stop = trio.Event()
        self.lives.append(life)
        self.note(life.name, "starts")
        ending = "done"
        try:
            with life.scope:
                await Worker(self._workplace(life)).run(life.stop)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - sorted below, and what is not known is raised
            ending = _ending(error)
        if life.dead:
            ending = "killed"
        life.kill()
        self.endings[ending] += 1
        self.note(life.name, f"ends: {ending}")
        return ending

    def _workplace(self, life: Life) -> Workplace:
        mill, spec = self.mill, self.mill.spec
        run, inputs, output = (
            FaultyStore(store, life, self.faults, self.ledger)
            for store in (mill.run, mill.inputs, mill.output)
        )
        host = life.host
        loaded = load_engine(
            spec.blueprint.task, dialect="jsonl", seed=0, threads=None, clock=host.clock
        )
        engine = SmallBatches(loaded, records=self.setting.job.batch_records)
        self.engines.append(engine)
        columns = engine.profile.columns
        writer = open_writer(spec.blueprint.output.format, columns, ())
        return Workplace(
            host=host,
            spec=spec,
            errors=spec.blueprint.errors,
            run=run,
            inputs=inputs,
            plan=PlanPages(run, mill.plan),
            queue=Door(self.queue, life, self.faults),
            engine=engine,
            reader=mill.reader,
            commit=Commit(run, output, writer, columns, spec.identity(), life.name),
            tally=Tally(life.name, host.clock, 1.0),
            emit=lambda event, **fields: self._heard(life, event, fields),
        )

    def _heard(self, life: Life, event: str, fields: dict[str, Any]) -> None:
        self.divided = self.divided or event == "handed_back"
        if event != "part_published":
            self.note(life.name, event, **fields)
        else:
            self.note(life.name, event, shard=fields["shard"], part=fields["part"])

    async def _troubles(self, nursery: trio.Nursery) -> None:
        for trouble in self.setting.troubles:
            await trio.sleep(max(0.0, trouble.at - trio.current_time()))
            self.note("fate", trouble.kind)
            nursery.start_soon(self._befall, trouble, nursery)
        await trio.sleep(max(0.0, self.setting.calm_at - trio.current_time()))
        self.faults.refused = self.faults.unanswered = self.faults.repeated = 0.0

    async def _befall(self, trouble: Trouble, nursery: trio.Nursery) -> None:
        living = [life for life in self.lives if not life.dead]
        victim = self.chance.choice(living) if living else None
        match trouble.kind:
            case "join":
                nursery.start_soon(self._place)
            case "cancel" if not self.cancelled:
                await self._cancel(trouble.seconds)
            case "kill" if victim is not None:
                victim.kill()
            case "pause" if victim is not None:
                victim.pause()
                await trio.sleep(trouble.seconds)
                victim.resume()
            case "reclaim" if victim is not None and victim.stop is not None:
                victim.stop.set()
                await trio.sleep(NOTICE_SECONDS)
                if not victim.dead:
                    victim.kill()

    async def _cancel(self, seconds: float) -> None:
        self.cancelled = True
        want(self.mill.run, Control(wanted="cancel", at=0))
        await trio.sleep(seconds)
        want(self.mill.run, Control(wanted="work", at=0))
        self.cancelled = False
        self.wanted.set()
        self.wanted = trio.Event()


def _ending(error: BaseException) -> str:
    """Raises what no worker should ever end with."""
    kinds = {
        DeadWorkerError: "killed",
        ReclaimedError: "reclaimed",
        StorageError: "storage",
        EngineDeadError: "engine",
    }
    leaves = list(_leaves(error))
    for kind, ending in kinds.items():
        if any(isinstance(leaf, kind) for leaf in leaves):
            return ending
    raise ViolationError(f"a worker ended with {leaves!r}") from error


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def simulate_world(seed: int) -> World:
    """One world to its end. Raises ViolationError, with the trace as a note."""
    setting = draw(seed)
    chance = random.Random(seed + 1)
    mill = setting.job.planned()
    queue: WorkQueue = mill.queue
    if setting.loose:
        queue = LooseQueue(mill.clock.now, random.Random(seed + 2), LEASE_SECONDS, 1000)
        queue.fill(map(Ticket, range(mill.plan.shards)))
    faults = Faults(setting.faults.refused, setting.faults.unanswered, setting.faults.repeated)
    world = World(setting, mill, queue, chance, faults)
    try:
        run_seeded(world.live, seed)
        world.judge()
    except BaseException as error:
        error.add_note(f"seed {seed}: {setting}\n" + "\n".join(world.trace[-400:]))
        raise
    return world
