"""Batches through the engine: bisection, a dead engine, slots kept filled."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.contract.errors import EngineDeadError
from gristmill.contract.record import Completed, Outcome, Record, Rejected, RejectionClass, Stage
from gristmill.contract.shard import Cursor
from gristmill.engines.protocol import Engine, Prepared
from gristmill.runtime.infer import Pulse, infer_batch, infer_parts
from gristmill.runtime.part import PlannedPart, parts_ahead
from gristmill.runtime.read import ReadPart
from tests.doubles.engines import PROFILE, Brittle, Lame, Watched
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import Mill, blueprint, json_lines

pytestmark = pytest.mark.anyio


def planned(engine: Engine, part: int, count: int) -> PlannedPart:
    records = tuple(
        Record(i, f"a@{i}", i + 1, f"a@{i}", (f"text {part} {i}",), b"") for i in range(count)
    )
    read = ReadPart(0, part, Cursor(0, 0), Cursor(0, count), False, records)
    return PlannedPart(read, engine.prepare(records), engine.profile)


def rejected(outcomes: Sequence[Outcome]) -> list[int]:
    return [i for i, outcome in enumerate(outcomes) if isinstance(outcome, Rejected)]


@given(
    count=st.integers(1, 40),
    bad=st.sets(st.integers(0, 39)),
)
@settings(max_examples=80, deadline=None)
def test_bisection_finds_exactly_the_bad_records(count: int, bad: set[int]) -> None:
    engine = Brittle(bad)
    prepared = engine.prepare(planned(engine, 0, count).read.records)
    outcomes = anyio.run(infer_batch, engine, prepared, tuple(range(count)))
    here = sorted(index for index in bad if index < count)
    assert rejected(outcomes) == here
    assert engine.probes == len(here)
    assert all(outcomes[i] == Completed((str(i),)) for i in range(count) if i not in bad)


async def test_a_rejected_record_says_which_exception_without_its_words() -> None:
    engine = Brittle({1})
    (outcome,) = await infer_batch(engine, engine.prepare([]), (1,))
    assert isinstance(outcome, Rejected)
    assert outcome.reason is RejectionClass.ENGINE
    assert outcome.message == "the engine raised RecordError on this record alone"


async def test_one_bad_record_costs_few_calls() -> None:
    engine = Brittle({700})
    await infer_batch(engine, engine.prepare([]), tuple(range(1024)))
    assert len(engine.calls) <= 2 * 10 + 1


async def test_an_engine_that_fails_the_probe_is_dead_and_the_record_is_not_blamed() -> None:
    engine = Lame({0})
    with pytest.raises(EngineDeadError, match=r"known-good record too \(RuntimeError: device lost"):
        await infer_batch(engine, engine.prepare([]), (0, 1, 2))


async def test_a_dead_engine_is_not_asked_again() -> None:
    class Dead(Brittle):
        async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
            self.calls.append(tuple(members))
            raise EngineDeadError("out")

    engine = Dead(set())
    with pytest.raises(EngineDeadError, match="out"):
        await infer_batch(engine, engine.prepare([]), range(64))
    assert len(engine.calls) == 1
    assert engine.probes == 0


async def through(engine: Engine, parts: list[PlannedPart], stop_after: int = 10**6) -> list[int]:
    """The parts in the order in which they leave, each once it has ended."""
    left: list[int] = []
    stop, halt = anyio.Event(), anyio.Event()
    pulse = Pulse(InstantClock())
    put, planned_parts = anyio.create_memory_object_stream[PlannedPart](len(parts))
    inferring, take = anyio.create_memory_object_stream[PlannedPart](
        parts_ahead(engine.profile.slots, len(parts[0].read.records))
    )
    for part in parts:
        put.send_nowait(part)
    put.close()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(infer_parts, engine, pulse, planned_parts, inferring, stop, halt)
        async for part in take:
            await part.ended.wait()
            left.append(part.read.part)
            if len(left) == stop_after:
                stop.set()
    return left


async def test_parts_leave_in_order_though_a_continuous_engine_finishes_out_of_order() -> None:
    mill = Mill.planned(
        {"a.jsonl": json_lines(["x"])}, InstantClock(), blueprint({"continuous": True})
    )
    order: list[tuple[int, int]] = []

    class Noted(Watched):
        async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
            outcomes = await super().infer(prepared, members)
            order.append((id(prepared), members[0]))
            return outcomes

    engine = Noted(mill.engine())
    parts = [planned(engine, index, 20) for index in range(8)]
    assert await through(engine, parts) == list(range(8))
    place = {id(part.prepared): index for index, part in enumerate(parts)}
    finished = [(place[prepared], member) for prepared, member in order]
    assert sorted(finished) != finished
    assert all(
        part.outcomes[i] == Completed((f"text {p} {i}",))
        for p, part in enumerate(parts)
        for i in range(20)
    )


async def test_every_slot_is_filled_across_part_boundaries() -> None:
    profile = replace(PROFILE, slots=64, batch_records=1)
    engine = Watched(Brittle(set(), profile, checkpoints=300))
    # A part alone can't fill the slots.
    await through(engine, [planned(engine, index, 30) for index in range(8)])
    assert engine.most == 64


async def test_a_batch_engine_has_one_batch_at_a_time() -> None:
    engine = Watched(Brittle(set()))
    await through(engine, [planned(engine, index, 20) for index in range(4)])
    assert engine.most == 1
    assert engine.batches == 4 * 3


async def test_after_a_stop_no_further_batch_is_begun_and_those_in_the_engine_are_finished() -> (
    None
):
    engine = Watched(Brittle(set(), checkpoints=5))
    parts = [planned(engine, index, 20) for index in range(10)]
    left = await through(engine, parts, stop_after=2)
    assert left == list(range(len(left)))
    assert 2 <= len(left) <= 5
    assert engine.records == sum(part.fresh for part in parts)
    assert not any(part.lost for part in parts)
    assert all(part.ended.is_set() for part in parts if part.read.part in left)


async def test_after_a_halt_what_is_in_the_engine_is_lost_and_its_part_ends_all_the_same() -> None:
    class Stuck(Watched):
        async def before(self, records: int) -> None:
            if self.batches == 2:
                stop.set()
                halt.set()
                await anyio.sleep_forever()

    stop, halt = anyio.Event(), anyio.Event()
    engine = Stuck(Brittle(set()))
    part = planned(engine, 0, 20)
    put, parts = anyio.create_memory_object_stream[PlannedPart](1)
    inferring, take = anyio.create_memory_object_stream[PlannedPart](1)
    put.send_nowait(part)
    pulse = Pulse(InstantClock())
    await infer_parts(engine, pulse, parts, inferring, stop, halt)
    assert take.receive_nowait() is part
    assert part.ended.is_set()
    assert (part.fresh, part.lost) == (16, 4)
    assert pulse.in_flight == 0


async def test_a_part_without_work_passes_through() -> None:
    fault = Rejected(RejectionClass.UNPARSABLE, Stage.READ, "bad")
    record = Record(0, "a@0", 1, "a@0", (), b"?", fault=fault)
    read = ReadPart(0, 0, Cursor(0, 0), Cursor(0, 1), True, (record,))
    engine = Brittle(set())
    part = PlannedPart(read, engine.prepare([record]), PROFILE)
    assert await through(engine, [part]) == [0]
    assert engine.calls == []
    assert part.outcomes == [fault]
