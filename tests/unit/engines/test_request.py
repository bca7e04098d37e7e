from typing import Any

import pytest

from gristmill.contract.column import ColumnType
from gristmill.contract.record import Input, Record, RejectionClass, Stage
from gristmill.engines.request import columns_for, refusal, too_long

ONE = columns_for("embed", "parquet", 8)
SEVERAL = columns_for("embed", "openai", 8)


def _record(*inputs: Input, **params: Any) -> Record:
    return Record(ordinal=0, place="", end=0, id="", inputs=inputs, raw=b"", params=params)


def test_embeddings_are_one_vector_a_record() -> None:
    assert [(c.name, c.type, c.length) for c in ONE] == [("embedding", ColumnType.VECTOR, 8)]


def test_openai_embeddings_are_several_with_their_tokens() -> None:
    assert [(c.name, c.type, c.length) for c in SEVERAL] == [
        ("embedding", ColumnType.VECTORS, 8),
        ("tokens", ColumnType.INT64, None),
    ]


def test_other_tasks_have_the_same_columns_in_every_dialect() -> None:
    assert [c.name for c in columns_for("score", "parquet", 0)] == ["score"]
    assert [c.name for c in columns_for("classify", "jsonl", 0)] == ["label", "score"]
    assert [c.name for c in columns_for("transform", "jsonl", 0)] == ["text"]


@pytest.mark.parametrize(
    ("record", "columns"),
    [
        (_record("a"), ONE),
        (_record("a", dimensions=None, model="m"), ONE),
        (_record("a", dimensions=8), ONE),
        (_record("a", dimensions=4), SEVERAL),
        (_record("a", "b", (1, 2)), SEVERAL),
    ],
)
def test_what_the_columns_can_hold_is_taken(record: Record, columns: Any) -> None:
    assert refusal(record, columns) is None


@pytest.mark.parametrize(
    ("record", "columns", "said"),
    [
        (_record(), ONE, "no input"),
        (_record("a", "b"), ONE, "has 2 inputs"),
        (_record("a", dimensions=4), ONE, "set output.format openai"),
        (_record("a", dimensions=9), ONE, "the model has 8"),
        (_record("a", dimensions=9), SEVERAL, "the model has 8"),
        (_record("a", dimensions=4), columns_for("score", "parquet", 0), "only embeddings"),
    ],
)
def test_what_the_columns_cannot_hold_is_refused(record: Record, columns: Any, said: str) -> None:
    rejected = refusal(record, columns)
    assert rejected is not None
    assert rejected.reason is RejectionClass.UNSUPPORTED
    assert rejected.stage is Stage.PREPARE
    assert said in rejected.message


def test_a_record_that_is_too_long_is_told_by_how_much() -> None:
    rejected = too_long(300, 256)
    assert rejected.reason is RejectionClass.TOO_LONG
    assert "300" in rejected.message
    assert "256" in rejected.message
