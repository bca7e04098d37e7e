from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.record import Completed, Record, Rejected, RejectionClass, Stage
from gristmill.formats import parquet_writer
from gristmill.formats.parquet_writer import ParquetWriter

VECTOR = Column(name="embedding", type=ColumnType.VECTOR, length=3)
VECTORS = Column(name="embeddings", type=ColumnType.VECTORS, length=3)
CARRIED = tuple(
    Column(name=name, type=ColumnType(name))
    for name in ("string", "int64", "float64", "bool", "json")
)


def record(index: int, carried: tuple[Any, ...] = ()) -> Record:
    return Record(index, f"a@{index}", index + 1, f"k{index}", ("t",), b"", carried)


def table(writer: ParquetWriter, body: bytes, folder: Path) -> pa.Table:
    writer.merge("results", [body], folder / "merged")
    return pq.read_table(folder / "merged")


def test_columns_are_id_then_the_engine_then_carried(tmp_path: Path) -> None:
    writer = ParquetWriter((VECTOR,), CARRIED)
    rows = [record(0, ("s", 1, 0.5, True, "[1]")), record(1, (None,) * 5)]
    outcomes = [Completed((np.array([1, 2, 3], np.float32),)), Completed((np.zeros(3),))]
    found = table(writer, writer.encode(rows, outcomes)["results"][0], tmp_path)
    assert found.schema.names == ["id", "embedding", *(c.name for c in CARRIED)]
    assert found.schema.field("embedding").type == pa.list_(
        pa.field("element", pa.float32(), nullable=False), 3
    )
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("k0", [1.0, 2.0, 3.0], "s", 1, 0.5, True, "[1]"),
        ("k1", [0.0, 0.0, 0.0], None, None, None, None, None),
    ]


def test_several_vectors_a_record_keep_their_grouping(tmp_path: Path) -> None:
    writer = ParquetWriter((VECTORS,), ())
    values = [np.full((n, 3), n, np.float32) for n in (2, 0, 1)]
    body = writer.encode([record(i) for i in range(3)], [Completed((v,)) for v in values])
    found = table(writer, body["results"][0], tmp_path).column("embeddings").to_pylist()
    assert found == [v.tolist() for v in values]


def test_other_tools_read_it(tmp_path: Path) -> None:
    writer = ParquetWriter((VECTOR,), CARRIED[:1])
    outcomes = [Completed((np.full(3, i, np.float32),)) for i in range(5)]
    body = writer.encode([record(i, ("s",)) for i in range(5)], outcomes)["results"][0]
    writer.merge("results", [body], tmp_path / "merged.parquet")
    frame = pl.read_parquet(tmp_path / "merged.parquet")
    assert frame["embedding"].to_list()[4] == [4.0, 4.0, 4.0]
    assert frame["id"].to_list() == [f"k{i}" for i in range(5)]


def test_merging_fills_row_groups_across_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_writer, "ROW_GROUP_ROWS", 20)
    writer = ParquetWriter((VECTOR,), ())
    rejected = Rejected(RejectionClass.ENGINE, Stage.INFER, "m")
    completed = Completed((np.zeros(3, np.float32),))
    parts = [
        writer.encode([record(i) for i in range(10)], [outcome] * 10)["results"][0]
        for outcome in (completed, rejected, completed, completed)
    ]
    writer.merge("results", parts, tmp_path / "merged")
    footer = pq.read_metadata(tmp_path / "merged")
    assert [footer.row_group(i).num_rows for i in range(footer.num_row_groups)] == [20, 10]


def test_an_empty_file_still_has_the_schema(tmp_path: Path) -> None:
    writer = ParquetWriter((VECTOR, VECTORS), CARRIED)
    for bodies in ([], [writer.encode([], [])["results"][0]]):
        writer.merge("results", bodies, tmp_path / "merged")
        found = pq.read_table(tmp_path / "merged")
        assert found.num_rows == 0
        assert found.schema.names == ["id", "embedding", "embeddings", *(c.name for c in CARRIED)]


def test_vectors_of_another_length_are_an_error() -> None:
    writer = ParquetWriter((VECTOR,), ())
    with pytest.raises(ValueError, match="column embedding: got vectors of 4 floats, not 3"):
        writer.encode([record(0)], [Completed((np.zeros(4, np.float32),))])
