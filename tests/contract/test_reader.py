"""What every Reader promises."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.contract.dataset import Input
from gristmill.contract.errors import ObjectChangedError
from gristmill.contract.record import Record
from gristmill.formats import objects
from gristmill.formats.open import open_reader
from gristmill.formats.protocol import Reader
from tests.doubles.memory_source import MemorySource

TEXTS = (
    "plain",
    "",
    'with "quotes", commas: and\ttabs',
    "ünïcödé ☃",
    "line\nbreaks\r\ninside",
    "x" * 500,
    "same",
    "same",
)


@dataclass(frozen=True)
class Case:
    key: str
    format: dict[str, object]
    encode: Callable[[Sequence[str]], bytes]
    anywhere: bool = False
    """May be cut at any position."""

    def reader(self) -> Reader:
        return open_reader(Input.model_validate({"uri": "in", "format": self.format}), ())

    def source(self, texts: Sequence[str] = TEXTS) -> MemorySource:
        return MemorySource(self.key, self.encode(texts))


def jsonl(texts: Sequence[str]) -> bytes:
    rows = [json.dumps({"n": i, "text": t}, ensure_ascii=False) for i, t in enumerate(texts)]
    return "\r\n".join(rows).encode()


def requests(texts: Sequence[str]) -> bytes:
    return b"".join(
        json.dumps(
            {
                "custom_id": f"c{i}",
                "method": "POST",
                "url": "/v1/embeddings",
                "body": {"model": "m", "input": t},
            }
        ).encode()
        + b"\n"
        for i, t in enumerate(texts)
    )


def table(texts: Sequence[str]) -> bytes:
    body = io.StringIO()
    writer = csv.writer(body)
    writer.writerow(["n", "text"])
    writer.writerows(enumerate(texts))
    return body.getvalue().encode()


def flat_table(texts: Sequence[str]) -> bytes:
    return table([t.replace("\r", " ").replace("\n", " ") for t in texts])


def parquet(texts: Sequence[str]) -> bytes:
    body = io.BytesIO()
    rows = pa.table({"n": list(range(len(texts))), "text": pa.array(list(texts), pa.string())})
    pq.write_table(rows, body, row_group_size=3)
    return body.getvalue()


CASES = {
    "jsonl": Case("a.jsonl", {"kind": "jsonl"}, jsonl, anywhere=True),
    "jsonl-gzip": Case("a.jsonl.gz", {"kind": "jsonl"}, lambda t: gzip.compress(jsonl(t))),
    "jsonl-zstd": Case("a.jsonl.zst", {"kind": "jsonl"}, lambda t: zstandard.compress(jsonl(t))),
    "parquet": Case("a.parquet", {"kind": "parquet"}, parquet, anywhere=True),
    "csv": Case("a.csv", {"kind": "csv"}, table),
    "csv-gzip": Case("a.csv.gz", {"kind": "csv"}, lambda t: gzip.compress(table(t))),
    "csv-lines": Case(
        "a.csv", {"kind": "csv", "newlines_in_fields": False}, flat_table, anywhere=True
    ),
    "openai": Case("a.jsonl", {"kind": "openai"}, requests, anywhere=True),
    "files": Case("a b#?%2F+.txt", {"kind": "files"}, lambda t: "\n".join(t).encode()),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(params=["small-blocks", "large-blocks"], autouse=True)
def _blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "small-blocks":
        for name, size in (("_FIRST", 3), ("_OVERRUN", 2), ("BLOCK", 7), ("_ZSTD_STEP", 5)):
            monkeypatch.setattr(objects, name, size)


def whole(reader: Reader, source: MemorySource, ordinal: int = 0) -> list[Record]:
    extent, _ = reader.cuts(source, 2**40)
    return list(reader.records(source, 0, extent, 0, ordinal))


def in_splits(reader: Reader, source: MemorySource, cuts: Sequence[int]) -> list[Record]:
    extent, _ = reader.cuts(source, 2**40)
    edges = [0, *cuts, extent]
    records: list[Record] = []
    for start, stop in pairwise(edges):
        assert start is not None
        records += reader.records(source, start, stop, start, len(records))
    return records


def test_every_record_is_read_in_order(case: Case) -> None:
    records = whole(case.reader(), case.source())
    expected = 1 if case.key.endswith(".txt") else len(TEXTS)
    assert [r.ordinal for r in records] == list(range(expected))
    assert len({r.place for r in records}) == expected
    assert all(r.place.startswith(case.key) for r in records)
    assert [r.end for r in records] == sorted({r.end for r in records})


def test_texts_come_through_unchanged(case: Case) -> None:
    if case.key.endswith(".txt"):
        assert whole(case.reader(), case.source())[0].inputs == ("\n".join(TEXTS),)
        return
    texts = [r.inputs[0] for r in whole(case.reader(), case.source()) if r.fault is None]
    expected = [t for t in TEXTS if t]
    if case.encode is flat_table:
        expected = [t.replace("\r", " ").replace("\n", " ") for t in expected]
    assert texts == expected


def test_a_bad_record_has_a_fault_and_the_rest_go_on(case: Case) -> None:
    faults = [r.ordinal for r in whole(case.reader(), case.source()) if r.fault is not None]
    assert faults == ([] if case.key.endswith(".txt") else [1])


def test_numbering_starts_where_it_is_told(case: Case) -> None:
    reader, source = case.reader(), case.source()
    assert [r.ordinal - 40 for r in whole(reader, source, 40)] == [
        r.ordinal for r in whole(reader, source)
    ]


def test_reading_twice_gives_the_same_records(case: Case) -> None:
    assert whole(case.reader(), case.source()) == whole(case.reader(), case.source())


def test_cuts_ascend_strictly_inside(case: Case) -> None:
    for target in (1, 10, 100, 10_000):
        extent, cuts = case.reader().cuts(case.source(), target)
        assert cuts == sorted(set(cuts))
        assert all(0 < cut < (extent or 0) for cut in cuts)


def test_planning_reads_nothing_unless_there_is_a_footer(case: Case) -> None:
    reader, source = case.reader(), case.source()
    reader.cuts(source, 100)
    assert bool(source.ranges) == reader.footers


def test_the_cuts_lose_no_record(case: Case) -> None:
    reader, source = case.reader(), case.source()
    for target in (40, 200):
        _, cuts = reader.cuts(source, target)
        assert in_splits(reader, source, cuts) == whole(reader, source)


def test_reading_resumes_after_any_record(case: Case) -> None:
    reader, source = case.reader(), case.source()
    extent, _ = reader.cuts(source, 2**40)
    records = whole(reader, source)
    for index, record in enumerate(records):
        rest = list(reader.records(source, 0, extent, record.end, index + 1))
        assert rest == records[index + 1 :]


def test_a_changed_object_stops_reading(case: Case) -> None:
    class Changed(MemorySource):
        def read(self, start: int, stop: int) -> bytes:
            raise ObjectChangedError("changed")

    source = case.source()
    with pytest.raises(ObjectChangedError):
        list(case.reader().records(Changed(source.key, source.body), 0, None, 0, 0))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.anywhere])
@given(
    texts=st.lists(
        st.text(st.sampled_from('a:" \n\r\t\\{é☃'), max_size=12) | st.just("x" * 60), max_size=9
    ),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_any_cuts_give_the_records_of_one_split(
    name: str, texts: list[str], data: st.DataObject
) -> None:
    reader, source = CASES[name].reader(), CASES[name].source(texts)
    extent, _ = reader.cuts(source, 2**40)
    assert extent is not None
    inside = st.sets(st.integers(1, extent - 1), max_size=8) if extent > 1 else st.just(set())
    records = whole(reader, source)
    assert len(records) == len(texts)
    assert in_splits(reader, source, sorted(data.draw(inside))) == records


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.anywhere])
@given(texts=st.lists(st.text(max_size=9), min_size=1, max_size=7), data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_split_resumes_after_any_of_its_records(
    name: str, texts: list[str], data: st.DataObject
) -> None:
    reader, source = CASES[name].reader(), CASES[name].source(texts)
    extent, _ = reader.cuts(source, 2**40)
    assert extent is not None
    start = data.draw(st.integers(0, extent - 1))
    stop = data.draw(st.integers(start + 1, extent))
    records = list(reader.records(source, start, stop, start, 0))
    for index, record in enumerate(records):
        rest = list(reader.records(source, start, stop, record.end, index + 1))
        assert rest == records[index + 1 :]
