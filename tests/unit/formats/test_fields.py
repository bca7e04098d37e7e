from typing import Any

import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.dataset import JsonLines
from gristmill.contract.errors import ConfigError
from gristmill.contract.record import Record, Rejected, RejectionClass, Stage
from gristmill.formats.fields import Fields, new_record


def fields(carried: tuple[Column, ...] = (), **format: Any) -> Fields:
    return Fields(JsonLines(kind="jsonl", **format), carried)


def read(document: dict[str, Any], carried: tuple[Column, ...] = (), **format: Any) -> Record:
    return fields(carried, **format).record(3, "a@7", 9, b"raw", document)


def fault(document: dict[str, Any], carried: tuple[Column, ...] = (), **format: Any) -> Rejected:
    record = read(document, carried, **format)
    assert record.fault is not None
    assert record.inputs == ()
    assert record.raw == b"raw"
    return record.fault


def test_a_record_is_built_as_its_class_builds_it() -> None:
    rejected = Rejected(RejectionClass.ENGINE, Stage.INFER, "m")
    built = new_record(1, "p", 2, "i", ("t",), raw=b"r", carried=(1,), params={}, fault=rejected)
    assert built == Record(1, "p", 2, "i", ("t",), b"r", (1,), {}, rejected)
    assert type(built) is Record
    with pytest.raises(AttributeError):
        built.id = "other"  # type: ignore[misc]


def test_without_an_id_field_the_place_is_the_id() -> None:
    assert read({"text": "x"}).id == "a@7"


@pytest.mark.parametrize(("value", "expected"), [("k1", "k1"), (5, "5"), (2**70, str(2**70))])
def test_the_id_comes_from_its_field(value: Any, expected: str) -> None:
    assert read({"text": "x", "key": value}, id="key").id == expected


@pytest.mark.parametrize("value", [None, ""])
def test_an_id_that_is_not_there_is_a_missing_field(value: Any) -> None:
    assert fault({"text": "x", "key": value}, id="key").reason is RejectionClass.MISSING_FIELD
    assert "field `key` is absent" in fault({"text": "x"}, id="key").message


@pytest.mark.parametrize("value", [True, 1.5, ["a"], {"a": 1}])
def test_an_id_that_names_nothing_is_a_wrong_type(value: Any) -> None:
    rejected = fault({"text": "x", "key": value}, id="key")
    assert rejected.reason is RejectionClass.WRONG_TYPE
    assert "a string or a whole number" in rejected.message


def test_a_rejected_record_keeps_its_id() -> None:
    assert read({"key": "k1"}, id="key").id == "k1"


def test_a_pair_is_two_texts() -> None:
    assert read({"q": "x", "d": "y"}, text="{{ q }}", pair="{{ d }}").inputs == (("x", "y"),)
    assert "`d`" in fault({"q": "x"}, text="{{ q }}", pair="{{ d }}").message


def test_carried_values_come_in_the_order_of_the_columns() -> None:
    columns = (
        Column(name="b", type=ColumnType.INT64),
        Column(name="a", type=ColumnType.STRING),
        Column(name="absent", type=ColumnType.BOOL),
    )
    assert read({"text": "x", "a": 1.5, "b": 2}, columns).carried == (2, "1.5", None)


def test_a_carried_value_that_does_not_fit_is_a_wrong_type() -> None:
    rejected = fault({"text": "x", "b": "2"}, (Column(name="b", type=ColumnType.INT64),))
    assert rejected.reason is RejectionClass.WRONG_TYPE
    assert rejected.message == (
        "field `b` is a string that doesn't fit its column in output.carry, int64"
    )


def test_a_column_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        ConfigError, match=r"input\.format\.text: in/a has no column `body`; did you mean `Body`"
    ):
        fields(text="{{ body }}").refuse_absent(["id", "Body"], "in/a")
    with pytest.raises(ConfigError, match=r"input\.format\.id: .* `key`; its columns: `zz`"):
        fields(text="{{ zz }}", id="key").refuse_absent(["zz"], "in/a")


def test_a_column_that_the_template_can_do_without_is_not_refused() -> None:
    fields(text="{{ a }}{{ b | default('') }}").refuse_absent(["a"], "in/a")


def test_only_the_fields_looked_at_are_named() -> None:
    columns = (Column(name="c", type=ColumnType.STRING),)
    assert fields(columns, text="{{ a }}", pair="{{ b }}", id="i").names == frozenset("abci")
    assert fields(text="{{ record['x y'] }}").names is None
