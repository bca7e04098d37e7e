"""One worker over stores in memory: what it publishes, and how it ends."""

import contextlib

import anyio
import pytest

from gristmill.contract import layout
from gristmill.contract.blueprint import Blueprint
from gristmill.contract.errors import (
    EngineDeadError,
    ObjectChangedError,
    ReclaimedError,
    StorageError,
    TooManyRejectedError,
)
from gristmill.contract.manifest import Control
from gristmill.contract.ticket import Ticket
from gristmill.runtime.control import want
from gristmill.runtime.failure import explain
from gristmill.runtime.read import ShardReader
from gristmill.runtime.worker import GRACE_SECONDS, PUBLISH_SECONDS, Worker, Workplace
from tests.doubles.engines import DieAfter, SmallBatches, Watched
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import Mill, blueprint, json_lines
from tests.doubles.trio_clock import TrioClock, simulate

pytestmark = pytest.mark.anyio

TEXTS = [f"text {index}" for index in range(100)]


def planned(plan: Blueprint | None = None, **bodies: bytes) -> Mill:
    given = bodies or {"a": json_lines(TEXTS[:60]), "b": json_lines(TEXTS[60:])}
    return Mill.planned({f"{key}.jsonl": body for key, body in given.items()}, InstantClock(), plan)


@pytest.mark.parametrize("engine", [{}, {"continuous": True}], ids=["batches", "continuous"])
async def test_every_record_has_its_result_in_order(engine: dict[str, bool]) -> None:
    mill = planned(blueprint(engine))
    await mill.work()
    assert mill.texts() == TEXTS
    assert mill.queue.outstanding() == 0
    assert mill.verify().gaps == []


async def test_a_continuous_engine_gives_the_bytes_of_a_batch_engine() -> None:
    one, other = planned(), planned(blueprint({"continuous": True}))
    await one.work()
    await other.work()
    assert one.results() == other.results()


async def test_a_shard_without_records_is_published_empty() -> None:
    mill = planned(a=json_lines(TEXTS), b=b"\n\n", c=json_lines(["x"]))
    await mill.work()
    assert mill.texts() == [*TEXTS, "x"]
    assert mill.verify().gaps == []


async def test_a_run_that_is_finished_is_not_done_again() -> None:
    mill = planned()
    await mill.work()
    before = mill.results()
    mill.queue.fill(map(Ticket, range(mill.plan.shards)))
    engine = Watched(mill.engine())
    await mill.work(engine)
    assert engine.records == 0
    assert mill.queue.outstanding() == 0
    assert mill.results() == before


def test_two_tickets_about_the_same_parts_both_leave_the_queue_and_count_once() -> None:
    plan = blueprint({"records_per_second": 1}, shard={"bytes": 10**6})
    mill = Mill.planned({"a.jsonl": json_lines(TEXTS)}, TrioClock(), plan)
    (shard,) = mill.shards()
    reader = ShardReader(shard, mill.reader, mill.inputs, plan.part, None, {}, Ticket(0))
    mill.queue.fill([reader.ahead()[3]])
    engine = Watched(mill.engine())
    places: list[Workplace] = []

    async def body() -> None:
        places.append(await mill.work(engine))

    simulate(body)
    tally = places[0].tally
    assert mill.queue.outstanding() == 0
    assert tally.counts.records == published(mill) == len(TEXTS)
    assert tally.lost_records == engine.records - len(TEXTS) > 0
    assert mill.verify().gaps == []


async def test_a_dead_engine_ends_the_attempt_and_the_next_one_goes_on() -> None:
    mill = planned()
    with pytest.raises(BaseExceptionGroup) as ended:
        await mill.work(DieAfter(mill.engine(), batches=5))
    assert ended.group_contains(EngineDeadError)
    published = len(mill.named("part_published"))
    assert published >= 3
    engine = Watched(mill.engine())
    await mill.work(engine)
    assert engine.records == len(TEXTS) - 8 * published
    assert mill.texts() == TEXTS
    assert mill.verify().gaps == []


def stopped(batch: type[Watched]) -> tuple[Mill, Watched, float]:
    """A worker told to stop in its fourth batch, on virtual time: (run, engine, seconds)."""
    mill = Mill.planned(
        {"a.jsonl": json_lines(TEXTS)}, TrioClock(), blueprint({"records_per_second": 1})
    )
    stop: list[anyio.Event] = []
    engine = batch(mill.engine())

    async def body() -> None:
        stop.append(anyio.Event())
        engine.on_fourth = stop[0].set  # type: ignore[attr-defined]
        with pytest.raises(ReclaimedError, match="everything finished is published"):
            await mill.work(engine, stop[0])

    return mill, engine, simulate(body)


class StopInFourth(Watched):
    async def before(self, records: int) -> None:
        if self.batches == 3:
            self.on_fourth()  # type: ignore[attr-defined]


class StuckInFourth(StopInFourth):
    async def before(self, records: int) -> None:
        await super().before(records)
        if self.batches == 3:
            await anyio.sleep_forever()


def published(mill: Mill) -> int:
    return sum(event["counts"]["records"] for event in mill.named("part_published"))


def test_a_stop_publishes_what_was_begun_and_gives_the_lease_back() -> None:
    mill, engine, seconds = stopped(StopInFourth)
    assert published(mill) == engine.records == 4 * 8
    assert seconds < 4 * 8 + 1
    assert mill.named("stopping")
    assert free(mill)


def test_work_that_does_not_fit_the_grace_time_is_given_up() -> None:
    mill, engine, seconds = stopped(StuckInFourth)
    assert published(mill) == engine.records == 3 * 8
    assert seconds == pytest.approx(3 * 8 + GRACE_SECONDS - PUBLISH_SECONDS, abs=1)
    assert mill.named("part_cut")[0]["lost_records"] == 8
    assert free(mill)


def free(mill: Mill) -> bool:
    """Whether every shard that is not done could be leased now."""
    return all(state.token is None for state in mill.queue._states.values())


@pytest.mark.parametrize("kind", ["transform", "classify", "embed"])
@pytest.mark.parametrize(
    ("continuous", "rate", "records", "life"), [(False, 10, 4, 2.5), (True, 6, 1, 3.0)]
)
def test_a_part_cut_short_is_finished_as_it_was_planned(
    kind: str, continuous: bool, rate: float, records: int, life: float
) -> None:
    engine = {"records_per_second": rate, "continuous": continuous}
    task = {"kind": kind, "engine": {"kind": "echo", **engine}}
    plan = blueprint(task=task, part={"records": 64})

    def mill() -> Mill:
        return Mill.planned({"a.jsonl": json_lines(TEXTS)}, TrioClock(), plan)

    undisturbed, disturbed = mill(), mill()
    engines: list[Watched] = []

    async def body() -> None:
        await undisturbed.work(SmallBatches(undisturbed.engine(), records=records))
        while disturbed.queue.outstanding():
            stop = anyio.Event()
            engines.append(SmallBatches(disturbed.engine(), records=records))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_set_after, stop, life)
                with contextlib.suppress(ReclaimedError):
                    await disturbed.work(engines[-1], stop)
                tasks.cancel_scope.cancel()

    simulate(body)
    assert len(engines) > 1
    assert sum(engine.records for engine in engines) == len(TEXTS)
    assert disturbed.results() == undisturbed.results()
    assert disturbed.verify().gaps == []
    assert disturbed.verify().counts == undisturbed.verify().counts
    kept = sum(event["kept_records"] for event in disturbed.named("part_cut"))
    assert kept > 0


async def _set_after(event: anyio.Event, seconds: float) -> None:
    await anyio.sleep(seconds)
    event.set()


def test_workers_without_a_shard_get_later_parts_of_one_and_all_finish_together() -> None:
    def mill() -> Mill:
        return Mill.planned(
            {"a.jsonl": json_lines(TEXTS)},
            TrioClock(),
            blueprint({"records_per_second": 1}, shard={"bytes": 10**6}, part={"records": 4}),
        )

    alone, shared = mill(), mill()

    async def three() -> None:
        async with anyio.create_task_group() as crew:
            for _ in range(3):
                crew.start_soon(shared.work)

    seconds = simulate(alone.work)
    assert simulate(three) < 0.5 * seconds
    assert shared.named("handed_back")
    assert shared.results() == alone.results()
    assert shared.verify().gaps == []
    assert len(shared.named("shard_published")) == 1


def test_a_cancelled_run_stops_its_workers_and_keeps_what_is_finished() -> None:
    mill = Mill.planned(
        {"a.jsonl": json_lines(TEXTS)}, TrioClock(), blueprint({"records_per_second": 1})
    )

    async def body() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(mill.work)
            await anyio.sleep(30)
            want(mill.run, Control(wanted="cancel", at=0))
        done = published(mill)
        assert 24 <= done < len(TEXTS)
        await mill.work()  # sees at once that nobody wants it
        assert published(mill) <= done + 8
        want(mill.run, Control(wanted="work", at=0))
        await mill.work()
        assert mill.texts() == TEXTS

    simulate(body)
    assert mill.verify().gaps == []


def test_an_engine_that_hangs_ends_the_attempt_and_says_where_it_hung() -> None:
    mill = Mill.planned(
        {"a.jsonl": json_lines(TEXTS)}, TrioClock(), blueprint({"records_per_second": 1})
    )
    told: list[str] = []

    class Hung(Watched):
        async def before(self, records: int) -> None:
            if self.batches == 2:
                await anyio.sleep_forever()

    async def body() -> None:
        with pytest.raises(BaseExceptionGroup) as ended:
            await mill.work(
                Hung(mill.engine()), stall_seconds=600, on_stall=lambda: told.append("hung")
            )
        assert ended.group_contains(EngineDeadError, match="did not finish a batch for 6")

    seconds = simulate(body)
    assert 600 < seconds < 700
    assert told == ["hung"]
    (event,) = mill.named("stalled")
    assert any("test_worker" in frame for frames in event["stacks"].values() for frame in frames)
    assert published(mill) == 16
    assert free(mill)


async def test_bad_records_are_rejected_and_the_rest_goes_on() -> None:
    texts = [*TEXTS[:50], "poison here", *TEXTS[50:70], "poison there", *TEXTS[70:]]
    faults = {"reject_containing": "poison"}
    mill = planned(blueprint({"faults": faults, "max_tokens": 2}), a=json_lines(texts))
    await mill.work()
    assert mill.texts() == TEXTS
    assert mill.verify().counts.rejected == {"engine": 2}


async def test_too_many_rejected_stop_the_worker_with_everything_kept() -> None:
    bad = b'{"other": 1}\n'
    plan = blueprint(errors={"max_failed_fraction": 1, "max_failed_records": 10})
    mill = planned(plan, a=json_lines(TEXTS[:50]) + bad * 50)
    with pytest.raises(BaseExceptionGroup) as ended:
        await mill.work()
    assert ended.group_contains(TooManyRejectedError)
    parts = list(mill.run.list(layout.parts_prefix(0)))
    assert len(parts) >= 50 // 8
    # More is allowed: another attempt goes on where this one stopped.
    engine = Watched(mill.engine())
    await mill.work(engine, errors=blueprint().errors)
    assert engine.records <= 50 - 8 * 6
    assert mill.texts() == TEXTS[:50]
    assert mill.verify().gaps == []


async def test_a_changed_input_ends_the_attempt_and_says_which() -> None:
    mill = planned()

    class ChangeInput(Watched):
        async def before(self, records: int) -> None:
            if self.batches == 3:
                mill.inputs.put("b.jsonl", json_lines(["other"]))

    with pytest.raises(BaseExceptionGroup) as ended:
        await mill.work(ChangeInput(mill.engine()))
    assert ended.group_contains(ObjectChangedError, match=r"b\.jsonl")


@pytest.mark.parametrize("op", ["put", "put_new", "put_file", "list", "get"])
async def test_storage_that_fails_ends_the_attempt_and_nothing_is_lost(op: str) -> None:
    mill = planned()
    where = mill.output if op == "put_file" else mill.run
    place = mill.workplace()
    where.fail_next(op, StorageError("no space left"))
    with pytest.raises((StorageError, BaseExceptionGroup)) as ended:
        await Worker(place).run(anyio.Event())
    assert explain(ended.value)[1] == "no space left"
    await mill.work()
    assert mill.texts() == TEXTS
    assert mill.verify().gaps == []


async def test_its_report_says_what_it_did_from_the_beginning_on() -> None:
    mill = planned()
    place = await mill.work()
    (info,) = mill.run.list(layout.ATTEMPTS)
    assert info.key == layout.attempt("attempt-0")
    assert place.tally.counts.records == len(TEXTS)


async def test_progress_is_told_part_by_part_and_shard_by_shard() -> None:
    mill = planned()
    await mill.work()
    shares = [event["shard_share"] for event in mill.named("part_published") if event["shard"] == 0]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {event["shard"] for event in mill.named("shard_published")} == set(
        range(mill.plan.shards)
    )


async def test_a_limit_ends_the_run_after_so_many_records() -> None:
    mill = Mill.planned({"a.jsonl": json_lines(TEXTS)}, InstantClock(), limit=21)
    await mill.work()
    assert mill.texts() == TEXTS[:21]
    assert mill.verify().gaps == []
