from typing import Any

import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.formats.carry import UnfitError, declared, fit_of

UNFIT = object()


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("string", "x", "x"),
        ("string", 5, "5"),
        ("string", True, "true"),
        ("string", 1.5, "1.5"),
        ("string", {"a": ["é", None]}, '{"a":["é",null]}'),
        ("string", 10**30, str(10**30)),
        ("string", b"bytes", "bytes"),
        ("string", b"\xff", UNFIT),
        ("int64", 5, 5),
        ("int64", -(2**63), -(2**63)),
        ("int64", 2**63, UNFIT),
        ("int64", True, UNFIT),
        ("int64", 5.0, UNFIT),
        ("int64", "5", UNFIT),
        ("float64", 1.5, 1.5),
        ("float64", 2, 2.0),
        ("float64", 10**400, UNFIT),
        ("float64", False, UNFIT),
        ("float64", "1.5", UNFIT),
        ("bool", True, True),
        ("bool", 1, UNFIT),
        ("bool", "true", UNFIT),
        ("json", "x", '"x"'),
        ("json", [1, {"b": 10**30}], '[1,{"b":' + str(10**30) + "}]"),
    ],
)
def test_a_value_fits_its_column_or_not(type_: str, value: Any, expected: Any) -> None:
    check(fit_of(ColumnType(type_), from_text=False), value, expected)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("string", "x", "x"),
        ("string", "", ""),
        ("int64", " 5 ", 5),
        ("int64", "", None),
        ("int64", "5.0", UNFIT),
        ("int64", str(2**63), UNFIT),
        ("float64", "1e3", 1000.0),
        ("float64", "nan", UNFIT),
        ("float64", "", None),
        ("bool", "TRUE", True),
        ("bool", "false", False),
        ("bool", "yes", UNFIT),
        ("json", "[1]", "[1]"),
        ("json", "[1", UNFIT),
        ("json", "", None),
    ],
)
def test_text_is_read_as_its_column(type_: str, value: str, expected: Any) -> None:
    check(fit_of(ColumnType(type_), from_text=True), value, expected)


def check(fit: Any, value: Any, expected: Any) -> None:
    if expected is UNFIT:
        with pytest.raises(UnfitError):
            fit(value)
    else:
        result = fit(value)
        assert result == expected
        assert type(result) is type(expected)


def test_names_alone_are_strings() -> None:
    assert declared(("a",)) == (Column(name="a", type=ColumnType.STRING),)
    assert declared({"a": ColumnType.INT64}) == (Column(name="a", type=ColumnType.INT64),)
