"""Results as Parquet: a schema fixed before the first record, row groups of a size tools like."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.record import Completed, Outcome, Record

ROW_GROUP_ROWS: Final = 2**17
ROW_GROUP_BYTES: Final = 16 * 2**20
"""A merged row group is closed at this many rows or bytes in memory, whichever comes first."""

_PLAIN: Final = {
    ColumnType.STRING: pa.string(),
    ColumnType.INT64: pa.int64(),
    ColumnType.FLOAT64: pa.float64(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.JSON: pa.string(),
}


class ParquetWriter:
    """`id`, what the engine made, what was carried."""

    def __init__(self, engine_columns: tuple[Column, ...], carried: tuple[Column, ...]) -> None:
        self._engine = engine_columns
        self._carried = carried
        self._schema = pa.schema(
            [pa.field("id", pa.string(), nullable=False)]
            + [pa.field(c.name, _type(c)) for c in engine_columns + carried]
        )
        self._options: dict[str, Any] = {
            "compression": "zstd",
            # Ids and vectors hardly ever repeat; carried values often do.
            "use_dictionary": [c.name for c in carried if _PLAIN[c.type] == pa.string()],
        }

    @property
    def extensions(self) -> Mapping[str, str]:
        return {"results": "parquet"}

    def encode(
        self, records: Sequence[Record], outcomes: Sequence[Outcome]
    ) -> dict[str, tuple[bytes, int]]:
        ids: list[str] = []
        values: list[tuple[Any, ...]] = []
        carried: list[tuple[Any, ...]] = []
        for record, outcome in zip(records, outcomes, strict=True):
            if type(outcome) is Completed:
                ids.append(record.id)
                values.append(outcome.values)
                carried.append(record.carried)
        arrays = [pa.array(ids, pa.string())]
        for columns, rows in ((self._engine, values), (self._carried, carried)):
            by_column = zip(*rows, strict=True) if rows else [()] * len(columns)
            if columns:
                arrays += [_array(c, v) for c, v in zip(columns, by_column, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        body = io.BytesIO()
        pq.write_table(table, body, row_group_size=max(len(ids), 1), **self._options)
        return {"results": (body.getvalue(), len(ids))}

    def merge(self, name: str, bodies: Iterable[bytes], target: Path) -> None:  # noqa: ARG002
        with pq.ParquetWriter(target, self._schema, **self._options) as out:
            for table in _grouped(pq.read_table(io.BytesIO(body)) for body in bodies):
                out.write_table(table, row_group_size=max(table.num_rows, 1))

    def ids(self, name: str, path: Path) -> Iterator[str]:  # noqa: ARG002
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["id"]):
                yield from batch.column(0).to_pylist()

    def lines(self, path: Path) -> Iterator[str]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    yield orjson.dumps(row).decode()


def _grouped(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    held: list[pa.Table] = []
    rows = size = 0
    for table in tables:
        if table.num_rows:
            held.append(table)
            rows += table.num_rows
            size += table.nbytes
        if rows >= ROW_GROUP_ROWS or size >= ROW_GROUP_BYTES:
            yield pa.concat_tables(held)
            held, rows, size = [], 0, 0
    if held:
        yield pa.concat_tables(held)


def _type(column: Column) -> pa.DataType:
    if column.type not in (ColumnType.VECTOR, ColumnType.VECTORS):
        return _PLAIN[column.type]
    if column.length is None:
        raise ValueError(f"column {column.name}: a {column.type.value} column needs a length")
    vector = pa.list_(pa.field("element", pa.float32(), nullable=False), column.length)
    return vector if column.type is ColumnType.VECTOR else pa.list_(vector)


def _array(column: Column, values: Sequence[Any]) -> pa.Array:
    if column.type is ColumnType.VECTOR:
        return _vectors(column, np.stack(values) if values else np.empty(0, np.float32))
    if column.type is ColumnType.VECTORS:
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum([len(value) for value in values], out=offsets[1:])
        flat = np.concatenate(values) if values else np.empty(0, np.float32)
        return pa.ListArray.from_arrays(
            pa.array(offsets), _vectors(column, flat), type=_type(column)
        )
    return pa.array(values, _PLAIN[column.type])


def _vectors(column: Column, rows: np.ndarray[Any, Any]) -> pa.Array:
    """(n, length) floats -> n fixed-size lists."""
    if rows.size and rows.shape[-1] != column.length:
        raise ValueError(
            f"column {column.name}: got vectors of {rows.shape[-1]} floats, not {column.length}"
        )
    flat = np.ascontiguousarray(rows, dtype=np.float32).reshape(-1)
    kind = _type(column)
    vector = kind if column.type is ColumnType.VECTOR else kind.value_type
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), type=vector)
