import csv
import gzip
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.contract.column import ColumnType
from gristmill.contract.dataset import CsvFiles
from gristmill.contract.errors import BadInputError, ConfigError
from gristmill.contract.record import Record, RejectionClass
from gristmill.formats.carry import Carry
from gristmill.formats.csv import CsvReader
from tests.doubles.memory_source import MemorySource


def read(
    body: bytes, key: str = "a.csv", carry: Carry = (), most: int = 10**6, **format: Any
) -> list[Record]:
    reader = CsvReader(CsvFiles(kind="csv", **format), most, carry)
    source = MemorySource(key, body)
    extent, _ = reader.cuts(source, 2**40)
    return list(reader.records(source, 0, extent, 0, 0))


@pytest.fixture(params=[True, False], ids=["quoted", "lines"])
def newlines(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_rows_are_named_by_their_byte_offset(newlines: bool) -> None:
    records = read(b"text\r\none\r\n\r\ntwo", newlines_in_fields=newlines)
    assert [(r.place, r.end, r.inputs, r.raw) for r in records] == [
        ("a.csv@6", 11, ("one",), b"one"),
        ("a.csv@13", 16, ("two",), b"two"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_name(newlines: bool) -> None:
    (record,) = read(b"\xef\xbb\xbftext,n\nx,1\n", newlines_in_fields=newlines)
    assert (record.inputs, record.place) == (("x",), "a.csv@10")


def test_without_a_header_line_the_blueprint_names_the_columns(newlines: bool) -> None:
    records = read(
        b"\xef\xbb\xbfx;1\ny;2\n", header=("text", "n"), delimiter=";", newlines_in_fields=newlines
    )
    assert [(r.place, r.inputs, r.raw) for r in records] == [
        ("a.csv@0", ("x",), b"x;1"),
        ("a.csv@7", ("y",), b"y;2"),
    ]


def test_a_quoted_field_may_hold_newlines_and_its_row_starts_where_it_starts() -> None:
    records = read(b'text,n\n"a\r\nb ""c""\n\nd",1\ne,2\n')
    assert [(r.place, r.end, r.inputs[0]) for r in records] == [
        ("a.csv@7", 25, 'a\r\nb "c"\n\nd'),
        ("a.csv@25", 29, "e"),
    ]
    assert records[0].raw == b'"a\r\nb ""c""\n\nd",1'


@pytest.mark.parametrize("row", [b"only", b"a,b,c"])
def test_a_ragged_row_is_rejected_with_both_counts(row: bytes, newlines: bool) -> None:
    records = read(b"text,n\nx,1\n" + row + b"\ny,2\n", newlines_in_fields=newlines)
    assert [r.fault is None for r in records] == [True, False, True]
    assert records[1].fault is not None
    assert records[1].fault.reason is RejectionClass.UNPARSABLE
    assert records[1].fault.message == f"the row has {row.count(b',') + 1} fields, the header 2"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"\xff,1", "not valid UTF-8: byte 0xff at 0 of the row"),
        (b"a\x00b,1", "a NUL byte at 1 of the row"),
        (b'"a"b,1', "not valid CSV: ',' expected after '\"'"),
    ],
)
def test_a_row_that_is_no_csv_is_rejected_alone(row: bytes, message: str, newlines: bool) -> None:
    records = read(b"text,n\nx,1\n" + row + b"\ny,2\n", newlines_in_fields=newlines)
    assert [r.fault is None for r in records] == [True, False, True]
    assert records[1].fault is not None
    assert records[1].fault.message == message
    assert records[1].raw == row


def test_a_stray_quote_rejects_the_lines_it_took_and_no_more() -> None:
    records = read(b'text,n\nx,1\n"oops,2\ny,3\n"z",4\nw,5\n')
    assert [(r.raw, r.fault is None) for r in records] == [
        (b"x,1", True),
        (b'"oops,2\ny,3\n"z",4', False),
        (b"w,5", True),
    ]


def test_a_stray_quote_that_takes_many_lines_is_refused_with_its_place() -> None:
    with pytest.raises(BadInputError, match="the row at byte 7 goes wrong after 202 lines"):
        read(b'text,n\n"oops,2\n' + b"y,3\n" * 200 + b'"z",4\n')


def test_a_quote_that_is_never_closed_is_refused_with_its_place() -> None:
    with pytest.raises(
        BadInputError, match=r"a\.csv: the row at byte 11 does not end .* newlines_in_fields: false"
    ):
        read(b'text,n\nx,1\n"oops,2\ny,3\n')


def test_a_quote_that_eats_more_than_a_record_may_have_is_refused() -> None:
    with pytest.raises(
        BadInputError, match=r"the row at byte 7 is over input\.max_record_bytes \(1\.0 KiB\)"
    ):
        read(b'text,n\n"oops,2\n' + b"y,3\n" * 1000 + b'",1\n', most=1024)


def test_line_by_line_a_quote_that_is_never_closed_costs_one_row() -> None:
    records = read(b'text,n\n"oops,2\ny,3\n', newlines_in_fields=False)
    assert [r.fault is None for r in records] == [False, True]


def test_line_by_line_a_row_over_the_limit_is_too_large() -> None:
    large, small = read(b"text\n" + b"x" * 500 + b"\ny\n", newlines_in_fields=False, most=100)
    assert large.fault is not None
    assert large.fault.reason is RejectionClass.TOO_LARGE
    assert small.inputs == ("y",)


def test_a_field_may_be_longer_than_the_csv_module_allows() -> None:
    (record,) = read(b"text\n" + b"x" * 200_000 + b"\n")
    assert record.inputs == ("x" * 200_000,)


@pytest.mark.parametrize("body", [b"", b"\n\n", b"text,n\n", b"text,n"])
def test_a_file_without_rows_has_no_records(body: bytes, newlines: bool) -> None:
    assert read(body, newlines_in_fields=newlines) == []


def test_a_header_that_names_a_column_twice_is_refused(newlines: bool) -> None:
    with pytest.raises(BadInputError, match="its header names `text` twice"):
        read(b"text,n,text\nx,1,y\n", newlines_in_fields=newlines)
    with pytest.raises(ConfigError, match=r"input\.format\.header: `a` is there twice"):
        read(b"", header=("a", "a"), newlines_in_fields=newlines)


def test_a_header_without_the_fields_needed_is_refused(newlines: bool) -> None:
    with pytest.raises(
        ConfigError, match=r"input\.format\.text: a\.csv has no column `text`; did you mean `Text`"
    ):
        read(b"Text,n\nx,1\n", newlines_in_fields=newlines)


def test_values_are_carried_by_their_declared_types(newlines: bool) -> None:
    carry: Carry = {"n": ColumnType.INT64, "b": ColumnType.BOOL}
    ok, wrong = read(b"text,n,b\nx,5,\ny,five,true\n", carry=carry, newlines_in_fields=newlines)
    assert ok.carried == (5, None)
    assert wrong.fault is not None
    assert wrong.fault.reason is RejectionClass.WRONG_TYPE


def test_offsets_in_a_compressed_file_are_those_of_its_text(newlines: bool) -> None:
    body = b'text,n\n"x",1\ny,2\n'
    places = [r.place for r in read(gzip.compress(body), "a.csv.gz", newlines_in_fields=newlines)]
    assert places == ["a.csv.gz@7", "a.csv.gz@13"]


def test_only_line_by_line_may_a_file_be_cut() -> None:
    source = MemorySource("a.csv", bytes(1000))
    quoted = CsvReader(CsvFiles(kind="csv"), 100, ())
    lines = CsvReader(CsvFiles(kind="csv", newlines_in_fields=False), 100, ())
    assert quoted.cuts(source, 300) == (1000, [])
    assert lines.cuts(source, 300) == (1000, [300, 600])


@given(
    st.lists(
        st.tuples(*[st.text(st.sampled_from('ab," \r\n\té'), max_size=6).map("x".__add__)] * 2),
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(deadline=None)
def test_whatever_the_csv_module_writes_is_read_back(rows: list[tuple[str, str]], end: str) -> None:
    body = io.StringIO()
    writer = csv.writer(body, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "n"), *rows])
    raw = body.getvalue().encode()
    records = read(raw, carry=("n",))
    assert [(r.inputs[0], r.carried[0]) for r in records] == rows
    assert [raw[int(r.place.split("@")[1]) : r.end] for r in records] == [
        r.raw + end.encode() for r in records
    ]
