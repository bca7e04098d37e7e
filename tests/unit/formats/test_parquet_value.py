from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from gristmill.formats.parquet_value import (
    BROKEN,
    column_type,
    plain_values,
    shown_row,
    simplified,
)


@pytest.mark.parametrize(
    ("column", "value", "type_"),
    [
        (pa.array([1_000_000_001], pa.timestamp("ns")), "1970-01-01 00:00:01.000000001", "string"),
        (pa.array([1], pa.date32()), "1970-01-02", "string"),
        (pa.array([1], pa.time64("us")), "00:00:00.000001", "string"),
        (pa.array([[1]], pa.list_(pa.timestamp("ns"))), ["1970-01-01 00:00:00.000000001"], "json"),
        (pa.array([{"a": Decimal("1.50")}]), {"a": "1.50"}, "json"),
        (pa.array([Decimal("1.50")]).dictionary_encode(), "1.50", "string"),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), [("k", 1)], "json"),
        (pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)), [1.0, 2.0], "json"),
        (pa.array([b"x"]), b"x", "string"),
        (pa.array([1.5], pa.float16()), 1.5, "float64"),
        (pa.array([1], pa.uint8()), 1, "int64"),
        (pa.array([True]), True, "bool"),
        (pa.nulls(1), None, "string"),
    ],
)  # fmt: skip
def test_every_arrow_type_has_a_plain_value(column: pa.Array, value: Any, type_: str) -> None:
    batch = simplified(pa.record_batch([column], names=["c"]))
    assert plain_values(batch.column(0)) == [value]
    assert column_type(column.type).value == type_


def test_a_value_that_cannot_be_read_leaves_the_others_alone() -> None:
    raw = pa.array([b"ok", b"\xff", None], pa.binary())
    assert plain_values(pa.Array.from_buffers(pa.string(), 3, raw.buffers())) == [
        "ok",
        BROKEN,
        None,
    ]


def test_a_row_is_shown_whatever_it_holds() -> None:
    assert shown_row({"a": b"\xff", "b": BROKEN, "c": 1}) == (
        b'{"a":"\\\\xff","b":"(unreadable)","c":1}'
    )
    assert b"1" + b"0" * 30 in shown_row({"a": 10**30})
