import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.dataset import JsonLines
from gristmill.contract.record import Completed, Record, RejectionClass
from gristmill.formats.jsonl import JsonLinesReader, JsonLinesWriter
from tests.doubles.memory_source import MemorySource


def read(body: bytes, key: str = "a.jsonl", most: int = 10**6, **format: Any) -> list[Record]:
    reader = JsonLinesReader(JsonLines(kind="jsonl", **format), most, ())
    source = MemorySource(key, body)
    extent, _ = reader.cuts(source, 2**40)
    return list(reader.records(source, 0, extent, 0, 0))


def test_a_record_is_named_by_its_byte_offset() -> None:
    records = read(b'{"text": "one"}\n{"text": "two"}\n')
    assert [(r.place, r.end, r.id) for r in records] == [
        ("a.jsonl@0", 16, "a.jsonl@0"),
        ("a.jsonl@16", 32, "a.jsonl@16"),
    ]


def test_offsets_in_a_compressed_file_are_those_of_its_text() -> None:
    body = b'{"text": "one"}\n{"text": "two"}\n'
    plain, packed = read(body), read(gzip.compress(body), "a.jsonl.gz")
    assert [r.place.split("@")[1] for r in packed] == [r.place.split("@")[1] for r in plain]


def test_an_empty_file_has_no_records() -> None:
    assert read(b"") == []
    assert read(b"", "a.jsonl.gz") == []


def test_blank_lines_are_no_records() -> None:
    assert len(read(b'\n  \n{"text": "x"}\n\r\n\t\n{"text": "y"}\n\n')) == 2


def test_the_line_as_it_came_is_kept_without_its_end() -> None:
    assert [r.raw for r in read(b'\xef\xbb\xbf{"text": "x"} \r\n{"text":1}')] == [
        b'{"text": "x"} ',
        b'{"text":1}',
    ]


def test_each_bad_line_is_rejected_alone() -> None:
    bad = [
        b"{",
        b'{"text": "\xff"}',
        b'{"text": "\x00"}',
        b'{"text": NaN}',
        b"[]",
        b'{"a":1,"a":1}',
    ]
    body = b"\n".join(line for b in bad for line in (b'{"text": "good"}', b))
    records = read(body)
    assert [r.fault is None for r in records] == [True, False] * len(bad)
    assert {r.fault.reason for r in records if r.fault} == {RejectionClass.UNPARSABLE}
    assert [r.raw for r in records if r.fault] == bad


def test_a_record_over_the_limit_is_too_large_and_the_next_is_read() -> None:
    large, small = read(b'{"text": "' + b"x" * 30_000_000 + b'"}\n{"text": "y"}', most=2**20)
    assert large.fault is not None
    assert large.fault.reason is RejectionClass.TOO_LARGE
    assert large.fault.message == ("the record has 28.6 MiB, over input.max_record_bytes (1.0 MiB)")
    assert len(large.raw) == 4096
    assert small.inputs == ("y",)


def test_a_blank_line_over_the_limit_is_too_large_as_well() -> None:
    assert [r.fault is not None for r in read(b" " * 50 + b'\n{"text": 1}', most=20)] == [
        True,
        False,
    ]


COLUMNS = (
    Column(name="embedding", type=ColumnType.VECTOR, length=3),
    Column(name="score", type=ColumnType.FLOAT64),
)
CARRIED = (
    Column(name="title", type=ColumnType.STRING),
    Column(name="extra", type=ColumnType.JSON),
)


def write(carried: tuple[Any, ...], values: tuple[Any, ...]) -> bytes:
    record = Record(0, "a@0", 1, "k", ("t",), b"", carried)
    return JsonLinesWriter(COLUMNS, CARRIED).encode([record], [Completed(values)])["results"][0]


def test_a_result_is_one_line_with_floats_in_their_shortest_form() -> None:
    vector = np.array([0.1, 1 / 3, 1e-8], np.float32)
    line = write(("é", '{"a": [1]}'), (vector, 0.25)).decode()
    assert line == (
        '{"id":"k","embedding":[0.1,0.33333334,1e-8],"score":0.25,"title":"é","extra":{"a": [1]}}\n'
    )


def test_vectors_in_any_memory_layout_give_the_same_line() -> None:
    rows = np.arange(12, dtype=np.float64).reshape(3, 4)
    flat = np.array([0, 4, 8], np.float32)
    assert write((None, None), (rows[:, 0], 1.0)) == write((None, None), (flat, 1.0))


def test_nulls_stay_null() -> None:
    row = json.loads(write((None, None), (np.zeros(3, np.float32), float("nan"))))
    assert row["title"] is row["extra"] is row["score"] is None


@pytest.mark.parametrize("id_", ["plain", 'with "quotes" \\ and \n', "☃", '"},'])
def test_ids_are_found_again(id_: str, tmp_path: Path) -> None:
    writer = JsonLinesWriter(COLUMNS, ())
    record = Record(0, "a@0", 1, id_, ("t",), b"")
    body = writer.encode([record], [Completed((np.zeros(3, np.float32), 1.0))])["results"][0]
    writer.merge("results", [body, body], tmp_path / "merged")
    assert list(writer.ids("results", tmp_path / "merged")) == [id_, id_]
