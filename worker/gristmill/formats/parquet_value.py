"""Arrow types and values -> the plain ones of Python and of result columns."""

from typing import Any, Final

import orjson
import pyarrow as pa

from gristmill.contract.column import ColumnType
from gristmill.formats.carry import json_text


class _Broken:
    def __repr__(self) -> str:
        return "(unreadable)"


BROKEN: Final = _Broken()
"""Stands for a value that can't be read, such as text that is not UTF-8."""


def plain_values(column: pa.Array) -> list[Any]:
    """The column as Python values, with BROKEN for those that can't be read."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (UnicodeDecodeError, ValueError, OverflowError):
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except (UnicodeDecodeError, ValueError, OverflowError):
        return BROKEN


def shown_row(document: dict[str, Any]) -> bytes:
    """The row as JSON, for people."""
    try:
        return orjson.dumps(document, default=_shown)
    except TypeError:
        return json_text({name: repr(value) for name, value in document.items()}).encode()


def _shown(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else repr(value)


def simplified(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Without the types that Python has no plain value for."""
    fields = [pa.field(f.name, _simple_type(f.type)) for f in batch.schema]
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, fields, strict=True)
    ]
    if not fields:
        return batch
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _simple_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return _simple_type(type_.value_type)
    if pa.types.is_temporal(type_) or pa.types.is_decimal(type_):
        return pa.string()
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(f.name, _simple_type(f.type)) for f in type_])
    if pa.types.is_list(type_):
        return pa.list_(_simple_type(type_.value_type))
    if pa.types.is_large_list(type_):
        return pa.large_list(_simple_type(type_.value_type))
    return type_


def column_type(type_: pa.DataType) -> ColumnType:
    """The type of the result column that carries such a column."""
    types = pa.types
    if types.is_dictionary(type_):
        return column_type(type_.value_type)
    if types.is_integer(type_):
        return ColumnType.INT64
    if types.is_floating(type_):
        return ColumnType.FLOAT64
    if types.is_boolean(type_):
        return ColumnType.BOOL
    return ColumnType.JSON if types.is_nested(type_) else ColumnType.STRING
