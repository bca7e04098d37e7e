"""What every Writer promises."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.dataset import OutputFormat
from gristmill.contract.record import Completed, Outcome, Record, Rejected, RejectionClass, Stage
from gristmill.formats.open import open_writer
from gristmill.formats.protocol import Writer

PARAMS = {"model": "m", "dimensions": None, "encoding_format": "float", "single": True}
EMBEDDING = Column(name="embedding", type=ColumnType.VECTORS, length=3)
TOKENS = Column(name="tokens", type=ColumnType.INT64)
REJECTED = Rejected(RejectionClass.TOO_LONG, Stage.PREPARE, "has 9 tokens, the limit is 8")


@pytest.fixture(params=["parquet", "jsonl", "openai"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def writer(kind: str) -> Writer:
    return opened(kind, (EMBEDDING, TOKENS))


def opened(kind: str, columns: tuple[Column, ...]) -> Writer:
    format: Any = TypeAdapter(OutputFormat).validate_python({"kind": kind})
    return open_writer(format, columns, ())


def part(first: int, count: int) -> tuple[list[Record], list[Outcome]]:
    """Every third record is rejected."""
    records = [
        Record(i, f"a@{i}", i + 1, f'id "{i}" ☃', ("t",), b"raw", params=PARAMS)
        for i in range(first, first + count)
    ]
    outcomes: list[Outcome] = [
        REJECTED if i % 3 == 2 else Completed((np.full((2, 3), i, np.float32), i))
        for i in range(first, first + count)
    ]
    return records, outcomes


def expected_ids(first: int, count: int) -> list[str]:
    return [f'id "{i}" ☃' for i in range(first, first + count) if i % 3 != 2]


def test_results_are_there_even_if_empty(writer: Writer) -> None:
    assert writer.encode([], [])["results"][1] == 0
    assert set(writer.encode([], [])) == {"results"}


def test_counts_are_those_of_the_completed_records(writer: Writer) -> None:
    assert writer.encode(*part(0, 10))["results"][1] == 7


def test_the_same_part_gives_the_same_bytes(kind: str, writer: Writer) -> None:
    again = opened(kind, (EMBEDDING, TOKENS))
    assert writer.encode(*part(0, 10)) == again.encode(*part(0, 10))


def test_every_name_has_an_extension(writer: Writer) -> None:
    assert set(writer.encode(*part(0, 10))) <= set(writer.extensions)


def test_merging_keeps_the_order_of_the_parts(writer: Writer, tmp_path: Path) -> None:
    bodies = [writer.encode(*part(first, 10))["results"][0] for first in (0, 10, 20)]
    writer.merge("results", bodies, tmp_path / "merged")
    assert list(writer.ids("results", tmp_path / "merged")) == expected_ids(0, 30)


def test_merging_twice_gives_the_same_bytes(writer: Writer, tmp_path: Path) -> None:
    bodies = [writer.encode(*part(first, 10))["results"][0] for first in (0, 10)]
    writer.merge("results", bodies, tmp_path / "one")
    writer.merge("results", bodies, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_merging_nothing_gives_a_valid_file(writer: Writer, tmp_path: Path) -> None:
    writer.merge("results", [], tmp_path / "merged")
    assert list(writer.ids("results", tmp_path / "merged")) == []
    assert list(writer.lines(tmp_path / "merged")) == []


def test_ids_and_lines_need_no_engine_columns(kind: str, writer: Writer, tmp_path: Path) -> None:
    writer.merge("results", [writer.encode(*part(0, 10))["results"][0]], tmp_path / "merged")
    reader = opened(kind, ())
    assert list(reader.ids("results", tmp_path / "merged")) == expected_ids(0, 10)
    assert len(list(reader.lines(tmp_path / "merged"))) == 7
