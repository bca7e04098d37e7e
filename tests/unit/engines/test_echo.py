from typing import Any

import anyio
import numpy as np
import pytest

from gristmill.contract.errors import EngineDeadError
from gristmill.contract.record import Completed, Input, Outcome, Record, RejectionClass
from gristmill.contract.task import Task
from gristmill.engines.echo import DIMENSIONS, SLOTS, Echo, RefusedTextError, load
from gristmill.engines.setup import Setup
from tests.doubles.instant_clock import InstantClock

BOTH_LOOPS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def _echo(
    kind: str = "transform",
    dialect: str = "jsonl",
    clock: InstantClock | None = None,
    **options: Any,
) -> Echo:
    task = Task.model_validate({"kind": kind, "engine": {"kind": "echo", **options}})
    clock = clock or InstantClock()
    return load(Setup(task=task, dialect=dialect, seed=0, threads=None, clock=clock))


def _record(*inputs: Input) -> Record:
    return Record(ordinal=0, place="", end=0, id="", inputs=inputs, raw=b"")


def _answers(echo: Echo, *records: Record) -> list[Any]:
    prepared = echo.prepare(records)
    outcomes = anyio.run(echo.infer, prepared, range(len(records)))
    return [outcome.values for outcome in outcomes if isinstance(outcome, Completed)]


def test_transform_answers_each_text_with_the_text() -> None:
    assert _answers(_echo(), _record("one"), _record("two"), _record("")) == [
        ("one",),
        ("two",),
        ("",),
    ]


def test_what_is_no_text_is_answered_with_what_it_says() -> None:
    echo = _echo()
    assert _answers(echo, _record(("a", "b")), _record((7, 8)), _record(b"raw")) == [
        ("a\nb",),
        ("7 8",),
        ("raw",),
    ]


def test_embeddings_depend_on_the_text_alone() -> None:
    (one,), (two,), (same,) = _answers(
        _echo("embed", "parquet"), _record("one"), _record("two"), _record("one")
    )
    assert one.shape == (DIMENSIONS,)
    assert np.array_equal(one, same)
    assert not np.array_equal(one, two)
    assert np.all(np.abs(one) <= 1)


def test_openai_answers_hold_every_embedding_and_the_tokens() -> None:
    ((vectors, tokens),) = _answers(_echo("embed", "openai"), _record("one two", "three"))
    assert vectors.shape == (2, DIMENSIONS)
    assert tokens == 3


def test_a_text_of_too_many_words_is_rejected() -> None:
    prepared = _echo(max_tokens=2).prepare([_record("one two"), _record("one two three")])
    assert prepared.faults[1].reason is RejectionClass.TOO_LONG
    assert "3 tokens" in prepared.faults[1].message
    assert list(prepared.lengths) == [2, 0]
    assert 0 not in prepared.faults


def test_a_refused_text_makes_the_whole_batch_raise() -> None:
    echo = _echo(faults={"reject_containing": "poison"})
    prepared = echo.prepare([_record("good"), _record("poisonous")])
    with pytest.raises(RefusedTextError):
        anyio.run(echo.infer, prepared, [0, 1])
    assert anyio.run(echo.infer, prepared, [0]) == [Completed(("good",))]


def test_after_its_last_batch_it_is_dead_for_good() -> None:
    echo = _echo(faults={"die_after_batches": 2})
    prepared = echo.prepare([_record("a")])
    for _ in range(2):
        anyio.run(echo.infer, prepared, [0])
    for _ in range(2):
        with pytest.raises(EngineDeadError, match="die_after_batches"):
            anyio.run(echo.infer, prepared, [0])
    with pytest.raises(EngineDeadError):
        anyio.run(echo.probe)


def test_a_batch_takes_the_time_that_its_records_take() -> None:
    clock = InstantClock()
    echo = _echo(clock=clock, records_per_second=50)
    _answers(echo, *[_record(str(index)) for index in range(100)])
    assert clock.slept == [2.0]


@BOTH_LOOPS
def test_a_continuous_engine_finishes_out_of_order(backend: str) -> None:
    echo = _echo(continuous=True)
    records = [_record(f"text {index}") for index in range(SLOTS)]
    finished: list[str] = []

    async def infer(index: int) -> None:
        (outcome,) = await echo.infer(prepared, [index])
        assert isinstance(outcome, Completed)
        finished.append(outcome.values[0])

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for index in range(SLOTS):
                tasks.start_soon(infer, index)

    prepared = echo.prepare(records)
    anyio.run(main, backend=backend)
    texts = [f"text {index}" for index in range(SLOTS)]
    assert sorted(finished) == sorted(texts)
    assert finished != texts
    assert finished != texts[::-1]


def test_a_continuous_engine_as_a_whole_keeps_the_rate() -> None:
    clock = InstantClock()
    echo = _echo(clock=clock, records_per_second=10, continuous=True)
    prepared = echo.prepare([_record(f"text {index}") for index in range(500)])

    async def main() -> list[Outcome]:
        return [outcome for i in range(500) for outcome in await echo.infer(prepared, [i])]

    anyio.run(main)
    assert pytest.approx(sum(clock.slept) / SLOTS, rel=0.1) == 500 / 10
    assert len(set(clock.slept)) > 1
