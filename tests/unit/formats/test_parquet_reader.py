import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.dataset import ParquetFiles
from gristmill.contract.errors import BadInputError, ConfigError, StorageError
from gristmill.contract.record import Record, RejectionClass
from gristmill.formats.carry import Carry
from gristmill.formats.parquet_reader import ParquetReader
from tests.doubles.memory_source import MemorySource


def written(table: pa.Table, **options: Any) -> MemorySource:
    body = io.BytesIO()
    pq.write_table(table, body, **options)
    return MemorySource("a.parquet", body.getvalue())


def opened(carry: Carry = (), most: int = 10**6, **format: Any) -> ParquetReader:
    return ParquetReader(ParquetFiles(kind="parquet", **format), most, carry)


def read(source: MemorySource, reader: ParquetReader) -> list[Record]:
    extent, _ = reader.cuts(source, 2**40)
    return list(reader.records(source, 0, extent, 0, 0))


def texts(rows: int, size: int = 1) -> pa.Table:
    return pa.table({"text": [f"{i:06d}" * size for i in range(rows)], "n": list(range(rows))})


def test_a_record_is_named_by_its_row() -> None:
    records = read(written(texts(5), row_group_size=2), opened())
    assert [(r.place, r.end) for r in records] == [(f"a.parquet#{i}", i + 1) for i in range(5)]
    assert records[4].raw == b'{"text":"000004"}'


def test_a_file_is_cut_at_row_groups_of_about_the_target() -> None:
    source = written(texts(1000, 20), row_group_size=100, compression="none", use_dictionary=False)
    extent, cuts = opened().cuts(source, len(source.body) // 5)
    assert extent == 1000
    assert cuts == [200, 400, 600, 800]


def test_planning_reads_only_the_footer() -> None:
    source = written(texts(100_000, 20), row_group_size=10_000, compression="none")
    opened().cuts(source, 2**20)
    assert sum(stop - start for start, stop in source.ranges) <= 2**17 < len(source.body)


def test_reading_takes_only_the_columns_and_row_groups_needed() -> None:
    table = pa.table({"text": ["x"] * 40_000, "ballast": [f"{i:09d}" * 9 for i in range(40_000)]})
    source = written(table, row_group_size=10_000, compression="none", use_dictionary=False)
    records = list(opened().records(source, 10_000, 20_000, 10_000, 0))
    assert len(records) == 10_000
    assert sum(stop - start for start, stop in source.ranges) < len(source.body) // 8


def test_a_file_without_row_groups_has_an_extent_of_zero() -> None:
    source = written(texts(0))
    assert opened().cuts(source, 100) == (0, [])
    assert list(opened().records(source, 0, 0, 0, 0)) == []


@pytest.mark.parametrize("keep", [0, 3, 100, -1, -20])
def test_a_file_cut_short_is_refused(keep: int) -> None:
    source = written(texts(1000))
    cut = MemorySource(source.key, source.body[:keep])
    with pytest.raises(BadInputError, match=r"a\.parquet: has no valid footer .* upload it whole"):
        opened().cuts(cut, 100)


def test_a_damaged_page_names_its_row_group() -> None:
    source = written(texts(3000, 30), row_group_size=1000, compression="zstd")
    column = pq.ParquetFile(io.BytesIO(source.body)).metadata.row_group(1).column(0)
    body = bytearray(source.body)
    at = column.dictionary_page_offset or column.data_page_offset
    body[at : at + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    damaged = MemorySource("a.parquet", bytes(body))
    reader = opened()
    reader.cuts(damaged, 100)
    with pytest.raises(BadInputError, match="row group 1 of 3 can't be read"):
        list(reader.records(damaged, 0, 3000, 0, 0))


def test_what_storage_says_is_not_taken_for_damage() -> None:
    class Failing(MemorySource):
        def read(self, start: int, stop: int) -> bytes:
            raise StorageError("no network")

    source = Failing("a.parquet", written(texts(10)).body)
    with pytest.raises(StorageError, match="no network"):
        opened().cuts(source, 100)


@pytest.mark.parametrize(
    "type_",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()],
)
def test_every_kind_of_string_column_is_text(type_: pa.DataType) -> None:
    column = pa.array(["one", "two", "one"], pa.string()).cast(type_)
    records = read(written(pa.table({"text": column})), opened())
    assert [r.inputs for r in records] == [("one",), ("two",), ("one",)]


def test_nested_values_are_reached_by_the_template_and_carried_as_json() -> None:
    source = written(pa.table({"doc": [{"tags": ["a", "b"], "n": 1}]}))
    reader = opened(("doc",), text="{{ doc.tags | join(' ') }}")
    assert reader.columns(source) == (Column(name="doc", type=ColumnType.JSON),)
    (record,) = read(source, reader)
    assert record.inputs == ("a b",)
    assert record.carried == ('{"tags":["a","b"],"n":1}',)


def test_null_values_are_missing_fields() -> None:
    source = written(pa.table({"text": pa.array(["x", None]), "gone": pa.nulls(2)}))
    ok, null = read(source, opened(("gone",)))
    assert ok.carried == (None,)
    assert null.fault is not None
    assert null.fault.reason is RejectionClass.MISSING_FIELD


def test_carried_columns_take_the_types_of_the_file() -> None:
    table = pa.table(
        {
            "text": ["x"],
            "i": pa.array([1], pa.int8()),
            "f": pa.array([0.5], pa.float32()),
            "b": [True],
            "t": [datetime(2024, 1, 2, tzinfo=UTC)],
            "d": [Decimal("1.50")],
            "u": pa.array([2**64 - 1], pa.uint64()),
        }
    )
    source, reader = written(table), opened(("i", "f", "b", "t", "d"))
    assert [c.type.value for c in reader.columns(source)] == [
        "int64",
        "float64",
        "bool",
        "string",
        "string",
    ]
    (record,) = read(source, reader)
    assert record.carried[:3] == (1, 0.5, True)
    assert record.carried[3].startswith("2024-01-02 00:00:00")
    assert record.carried[4] == "1.50"
    (large,) = read(source, opened(("u",)))
    assert large.fault is not None
    assert large.fault.reason is RejectionClass.WRONG_TYPE


def test_declared_types_win_over_those_of_the_file() -> None:
    source = written(pa.table({"text": ["x"], "n": [1]}))
    reader = opened({"n": ColumnType.STRING})
    assert reader.columns(source) == (Column(name="n", type=ColumnType.STRING),)
    assert read(source, reader)[0].carried == ("1",)


def test_a_column_that_is_not_there_is_refused_at_planning() -> None:
    source = written(pa.table({"Text": ["x"], "title": ["y"]}))
    with pytest.raises(
        ConfigError,
        match=r"input\.format\.text: a\.parquet has no column `text`; did you mean `Text`",
    ):
        opened().cuts(source, 100)
    with pytest.raises(ConfigError, match=r"output\.carry: .* `titel`; did you mean `title`"):
        opened(("titel",), text="{{ title }}").columns(source)


def test_text_that_is_not_utf8_rejects_its_row_alone() -> None:
    column = pa.Array.from_buffers(
        pa.string(), 3, pa.array([b"ok", b"\xff\xfe", b"fine"], pa.binary()).buffers()
    )
    records = read(written(pa.table({"text": column})), opened())
    assert [r.fault.reason if r.fault else None for r in records] == [
        None,
        RejectionClass.UNPARSABLE,
        None,
    ]


def test_a_record_over_the_limit_is_too_large() -> None:
    source = written(pa.table({"text": ["x", "y" * 10_000]}))
    small, large = read(source, opened(most=1000))
    assert small.fault is None
    assert large.fault is not None
    assert large.fault.reason is RejectionClass.TOO_LARGE
    assert len(large.raw) == 4096


def test_two_columns_of_one_name_are_refused() -> None:
    table = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["text", "text"])
    with pytest.raises(BadInputError, match="several columns named `text`"):
        opened().cuts(written(table), 100)


def test_a_template_that_wants_the_whole_record_reads_every_column() -> None:
    source = written(pa.table({"First name": ["Ada"], "Last name": ["Lovelace"]}))
    reader = opened(text="{{ record['First name'] }} {{ record['Last name'] }}")
    assert read(source, reader)[0].inputs == ("Ada Lovelace",)


def test_a_template_without_fields_still_counts_rows() -> None:
    assert [r.inputs for r in read(written(texts(3)), opened(text="same"))] == [("same",)] * 3
