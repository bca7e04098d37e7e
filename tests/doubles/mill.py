"""Mill: a planned run in memory, and workers on it."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar, TypeVarTuple

import anyio
from anyio.lowlevel import checkpoint

from gristmill.client.cut import cut_shards
from gristmill.client.listing import list_input
from gristmill.contract import layout
from gristmill.contract.blueprint import Blueprint
from gristmill.contract.canonical import canonical_json
from gristmill.contract.clock import Clock
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import Shard, ShardPlan, decode_page, encode_page
from gristmill.contract.ticket import Ticket
from gristmill.engines.load import load_engine
from gristmill.engines.protocol import Engine
from gristmill.formats.open import open_reader, open_writer
from gristmill.formats.protocol import Reader, Writer
from gristmill.runtime.commit import Commit
from gristmill.runtime.host import Host
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.read import StoreSource
from gristmill.runtime.telemetry import Tally
from gristmill.runtime.verdict import Evidence, Verdict
from gristmill.runtime.verify import verify_run
from gristmill.runtime.worker import Worker, Workplace
from tests.doubles.memory_queue import MemoryQueue
from tests.doubles.memory_store import MemoryStore

PAGE_SHARDS = 4

T = TypeVar("T")
Args = TypeVarTuple("Args")


async def inline(call: Callable[[*Args], T], *args: *Args) -> T:
    """Runs a blocking call in place, between two checkpoints: a worker may die at either."""
    await checkpoint()
    result = call(*args)
    await checkpoint()
    return result


def json_lines(texts: Iterable[str]) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


def blueprint(engine: dict[str, Any] | None = None, **sections: Any) -> Blueprint:
    """Echo over JSON lines in memory; small parts, small shards."""
    plain: dict[str, Any] = {
        "version": 1,
        "name": "mill",
        "task": {"kind": "transform", "engine": {"kind": "echo", **(engine or {})}},
        "input": {"uri": "memory://in/", "format": {"kind": "jsonl"}},
        "output": {"uri": "memory://out", "format": {"kind": "jsonl"}},
        "shard": {"bytes": 1000},
        "part": {"records": 8},
        "errors": {"max_failed_fraction": 1.0},
    }
    return Blueprint.model_validate(plain | sections)


@dataclass
class Mill:
    """Everything of a run but its workers. `events` is what all of them said."""

    clock: Clock
    spec: RunSpec
    plan: ShardPlan
    inputs: MemoryStore
    run: MemoryStore
    output: MemoryStore
    queue: MemoryQueue
    reader: Reader
    events: list[dict[str, Any]] = field(default_factory=list)
    attempts: Iterable[int] = field(default_factory=count)

    @classmethod
    def planned(
        cls,
        bodies: dict[str, bytes],
        clock: Clock,
        plan: Blueprint | None = None,
        *,
        limit: int | None = None,
        lease_seconds: float = 60,
    ) -> "Mill":
        chosen = plan or blueprint()
        inputs, run = MemoryStore("memory://in"), MemoryStore("memory://runs/mill")
        for key, body in bodies.items():
            inputs.put(key, body)
        listing = list_input(inputs, chosen.input)
        reader = open_reader(chosen.input, chosen.output.carry)
        spec = RunSpec(
            run="mill",
            blueprint=chosen,
            model_revision="echo",
            listing=listing.digest,
            limit=limit,
            gristmill="0",
        )
        shards = list(
            cut_shards(
                listing.objects,
                reader,
                lambda item: StoreSource(inputs, item),
                chosen.shard.bytes,
                single=limit is not None,
            )
        )
        head = ShardPlan(
            shards=len(shards),
            objects=len(listing.objects),
            bytes=sum(item.size for item in listing.objects),
            page_shards=PAGE_SHARDS,
            skipped={},
        )
        run.put_new(layout.RUN, canonical_json(spec))
        for page in range(0, len(shards), PAGE_SHARDS):
            body = encode_page(shards[page : page + PAGE_SHARDS])
            run.put_new(layout.plan_page(page // PAGE_SHARDS), body)
        run.put_new(layout.PLAN, canonical_json(head))
        tokens = count()
        queue = MemoryQueue(
            now=clock.now, token=lambda: f"token-{next(tokens)}", lease_seconds=lease_seconds
        )
        queue.fill(map(Ticket, range(len(shards))))
        output = MemoryStore("memory://out")
        return cls(clock, spec, head, inputs, run, output, queue, reader)

    def engine(self) -> Engine:
        return load_engine(
            self.spec.blueprint.task, dialect="jsonl", seed=0, threads=None, clock=self.clock
        )

    def writer(self, engine: Engine) -> Writer:
        return open_writer(self.spec.blueprint.output.format, engine.profile.columns, ())

    def workplace(
        self, engine: Engine | None = None, attempt: str | None = None, **changed: Any
    ) -> Workplace:
        engine = engine or self.engine()
        name = attempt or f"attempt-{next(iter(self.attempts))}"
        given: dict[str, Any] = {
            "host": Host(self.clock, inline),
            "spec": self.spec,
            "errors": self.spec.blueprint.errors,
            "run": self.run,
            "inputs": self.inputs,
            "plan": PlanPages(self.run, self.plan),
            "queue": self.queue,
            "engine": engine,
            "reader": self.reader,
            "commit": Commit(
                self.run,
                self.output,
                self.writer(engine),
                engine.profile.columns,
                self.spec.identity(),
                name,
            ),
            "tally": Tally(name, self.clock, 1.0),
            "emit": lambda event, **fields: self.events.append({"event": event, **fields}),
        }
        return Workplace(**given | changed)

    async def work(
        self, engine: Engine | None = None, stop: anyio.Event | None = None, **changed: Any
    ) -> Workplace:
        """One worker to its end."""
        place = self.workplace(engine, **changed)
        await Worker(place).run(stop or anyio.Event())
        return place

    def shards(self) -> Iterable[Shard]:
        for page in range(-(-self.plan.shards // PAGE_SHARDS)):
            yield from decode_page(self.run.get(layout.plan_page(page)))

    def results(self) -> dict[str, bytes]:
        return {info.key: self.output.get(info.key) for info in self.output.list()}

    def texts(self) -> list[str]:
        """What the results hold, in order."""
        body = b"".join(self.results().values())
        return [json.loads(line)["text"] for line in body.splitlines()]

    def verify(self, *, deep: bool = True) -> Verdict:
        evidence = Evidence(
            self.spec,
            self.run,
            self.output,
            self.inputs,
            self.reader,
            open_writer(self.spec.blueprint.output.format, (), ()),
        )
        return verify_run(evidence, self.shards, deep=deep)

    def named(self, event: str) -> list[dict[str, Any]]:
        return [found for found in self.events if found["event"] == event]
