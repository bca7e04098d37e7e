"""Parquet: cut by row group from the footer alone, read by row group and needed column."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.contract.column import Column
from gristmill.contract.dataset import ParquetFiles
from gristmill.contract.errors import BadInputError
from gristmill.contract.record import Record
from gristmill.contract.units import show_bytes
from gristmill.formats.carry import Carry, declared
from gristmill.formats.fields import Fields, refuse_absent, rejected_record, too_large
from gristmill.formats.json_object import unparsable
from gristmill.formats.lines import KEPT
from gristmill.formats.parquet_source import RangedFile
from gristmill.formats.parquet_value import (
    BROKEN,
    column_type,
    plain_values,
    shown_row,
    simplified,
)
from gristmill.formats.protocol import Source

_BATCH_ROWS: Final = 1024


class ParquetReader:
    """A record's place is its row in the file. Dates, times and decimals are read as text."""

    def __init__(self, format: ParquetFiles, most: int, carry: Carry) -> None:
        self._format = format
        self._most = most
        self._carry = carry
        # Fails early on a bad template; the types of the carried columns may come from the file.
        self._fields = Fields(format, declared(carry))
        self._last: tuple[str, str, pq.FileMetaData] | None = None

    @property
    def footers(self) -> bool:
        return True

    def columns(self, source: Source | None) -> tuple[Column, ...]:
        if source is None or not self._carry:
            return declared(self._carry)
        return self._columns(source, self._footer(source).schema.to_arrow_schema())

    def cuts(self, source: Source, target: int) -> tuple[int | None, list[int]]:
        footer = self._footer(source)
        self._fields.refuse_absent(footer.schema.to_arrow_schema().names, source.object.key)
        cuts, row, weight = [], 0, 0
        for index in range(footer.num_row_groups):
            group = footer.row_group(index)
            if weight and weight + _stored(group) // 2 >= target:
                cuts.append(row)
                weight = 0
            row += group.num_rows
            weight += _stored(group)
        return footer.num_rows, [cut for cut in cuts if 0 < cut < footer.num_rows]

    def records(
        self, source: Source, start: int, stop: int | None, at: int, ordinal: int
    ) -> Iterator[Record]:
        footer = self._footer(source)
        schema = footer.schema.to_arrow_schema()
        self._fields.refuse_absent(schema.names, source.object.key)
        fields = self._fields
        if not isinstance(self._carry, Mapping):
            fields = Fields(self._format, self._columns(source, schema))
        wanted = fields.names
        names = [name for name in schema.names if wanted is None or name in wanted]
        upto = footer.num_rows if stop is None else min(stop, footer.num_rows)
        for batch, row in self._batches(source, footer, names, max(start, at), upto):
            for record in self._records(batch, row, fields, source.object.key, ordinal):
                yield record
                ordinal += 1

    def _records(
        self, batch: pa.RecordBatch, row: int, fields: Fields, key: str, ordinal: int
    ) -> Iterator[Record]:
        names = batch.schema.names
        columns = [plain_values(column) for column in batch.columns]
        rows = zip(*columns, strict=True) if columns else iter([()] * batch.num_rows)
        for index, values in enumerate(rows):
            number = row + index
            place = f"{key}#{number}"
            document = dict(zip(names, values, strict=True))
            raw = shown_row(document)
            if BROKEN in values:
                name = names[values.index(BROKEN)]
                fault = unparsable(
                    f"column `{name}` can't be read in this row; most likely it is not UTF-8"
                )
                yield rejected_record(ordinal + index, place, number + 1, raw, fault)
            elif len(raw) > self._most:
                fault = too_large(len(raw), self._most)
                yield rejected_record(ordinal + index, place, number + 1, raw[:KEPT], fault)
            else:
                yield fields.record(ordinal + index, place, number + 1, raw, document)

    def _batches(
        self,
        source: Source,
        footer: pq.FileMetaData,
        names: Sequence[str],
        first: int,
        upto: int,
    ) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Batches of the rows [first, upto), each with the number of its first row."""
        ranged = RangedFile(source)
        row = 0
        for index in range(footer.num_row_groups):
            rows = footer.row_group(index).num_rows
            if row + rows <= first or row >= upto:
                row += rows
                continue
            reading = f"row group {index} of {footer.num_row_groups} can't be read"
            try:
                file = pq.ParquetFile(
                    pa.PythonFile(ranged, mode="r"), metadata=footer, pre_buffer=True
                )
                for batch in file.iter_batches(_BATCH_ROWS, row_groups=[index], columns=names):
                    low = max(first - row, 0)
                    high = min(upto - row, batch.num_rows)
                    if low < high:
                        yield simplified(batch.slice(low, high - low)), row + low
                    row += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                raise ranged.failure or _damaged(source, reading, error) from error

    def _columns(self, source: Source, schema: pa.Schema) -> tuple[Column, ...]:
        refuse_absent(
            (("output.carry", name) for name in self._carry), schema.names, source.object.key
        )
        if isinstance(self._carry, Mapping):
            return declared(self._carry)
        return tuple(
            Column(name=name, type=column_type(schema.field(name).type)) for name in self._carry
        )

    def _footer(self, source: Source) -> pq.FileMetaData:
        # The splits of one object come one after the other: its footer is read once.
        which = (source.object.key, source.object.etag)
        last = self._last
        if last is not None and last[:2] == which:
            return last[2]
        ranged = RangedFile(source)
        try:
            footer = pq.read_metadata(pa.PythonFile(ranged, mode="r"))
        except (pa.ArrowException, OSError) as error:
            raise ranged.failure or _damaged(source, "has no valid footer", error) from error
        names = footer.schema.to_arrow_schema().names
        twins = sorted({name for name in names if names.count(name) > 1})
        if twins:
            raise BadInputError(
                f"{source.object.key}: has several columns named `{twins[0]}`; rename all but one"
            )
        self._last = (*which, footer)
        return footer


def _damaged(source: Source, what: str, error: Exception) -> BadInputError:
    return BadInputError(
        f"{source.object.key}: {what} ({str(error).splitlines()[0][:160]}); the file is damaged, "
        f"cut short or no Parquet ({show_bytes(source.object.size)}): upload it whole, or leave it "
        "out of input.uri"
    )


def _stored(group: pq.RowGroupMetaData) -> int:
    return sum(group.column(i).total_compressed_size for i in range(group.num_columns))
