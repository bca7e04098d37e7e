"""Values of carried columns: an input field -> what the result column of its type holds."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from gristmill.contract.column import Column, ColumnType

Carry = Mapping[str, ColumnType] | tuple[str, ...]
"""As in the blueprint: names with types, or names alone."""

Fit = Callable[[Any], Any]
"""A value that isn't null -> the same for the column. Raises UnfitError."""


class UnfitError(Exception):
    """The value can't be held by the column."""


def declared(carry: Carry) -> tuple[Column, ...]:
    """The columns where the input itself has no types: names alone are strings."""
    types = carry if isinstance(carry, Mapping) else dict.fromkeys(carry, ColumnType.STRING)
    return tuple(Column(name=name, type=ColumnType(type_)) for name, type_ in types.items())


def fit_of(type_: ColumnType, *, from_text: bool) -> Fit:
    """`from_text`: every value of the input is a string, as in CSV."""
    return (_FROM_TEXT if from_text else _FROM_VALUE)[type_]


def json_text(value: object) -> str:
    """The value's JSON text, whatever the size of its integers. Raises UnfitError."""
    try:
        return orjson.dumps(value, default=_jsonable).decode()
    except TypeError:  # an integer beyond 64 bits, say, which orjson doesn't write
        pass
    try:
        return json.dumps(
            value, default=_jsonable, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
    except (TypeError, ValueError, RecursionError):
        raise UnfitError from None


def _jsonable(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _string(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise UnfitError from None
    return json_text(value)


def _int64(value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise UnfitError
    return value


def _float64(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is not int:
        raise UnfitError
    try:
        return float(value)
    except OverflowError:
        raise UnfitError from None


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        raise UnfitError
    return value


def _int64_text(value: str) -> int | None:
    if not value.strip():
        return None
    try:
        return _int64(int(value))
    except ValueError:
        raise UnfitError from None


def _float64_text(value: str) -> float | None:
    if not value.strip():
        return None
    try:
        number = float(value)
    except ValueError:
        raise UnfitError from None
    if not math.isfinite(number):
        raise UnfitError
    return number


def _bool_text(value: str) -> bool | None:
    match value.strip().lower():
        case "":
            return None
        case "true":
            return True
        case "false":
            return False
        case _:
            raise UnfitError


def _json_from_text(value: str) -> str | None:
    if not value.strip():
        return None
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        raise UnfitError from None
    return value.strip()


_FROM_VALUE: Final[dict[ColumnType, Fit]] = {
    ColumnType.STRING: _string,
    ColumnType.INT64: _int64,
    ColumnType.FLOAT64: _float64,
    ColumnType.BOOL: _bool,
    ColumnType.JSON: json_text,
}
_FROM_TEXT: Final[dict[ColumnType, Fit]] = {
    ColumnType.STRING: _string,
    ColumnType.INT64: _int64_text,
    ColumnType.FLOAT64: _float64_text,
    ColumnType.BOOL: _bool_text,
    ColumnType.JSON: _json_from_text,
}
