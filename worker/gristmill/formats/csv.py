"""CSV: a header line, then a record a row.

With `newlines_in_fields` a quoted field may hold a newline, so that only reading from the beginning
tells where a row starts: one object is one split. Without, every line is a row, and an object is
cut by bytes. Either way the place of a record is the offset of its row's first byte.
"""

import csv
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gristmill.contract.column import Column
from gristmill.contract.dataset import CsvFiles
from gristmill.contract.errors import BadInputError, ConfigError
from gristmill.contract.record import Record, Rejected
from gristmill.contract.units import show_bytes
from gristmill.formats.carry import Carry, declared
from gristmill.formats.fields import Fields, rejected_record, too_large
from gristmill.formats.json_object import unparsable
from gristmill.formats.lines import Line, line_cuts, read_lines
from gristmill.formats.protocol import Source

# The default, 128 KiB a field, is below input.max_record_bytes, which bounds rows here.
csv.field_size_limit(2**31 - 1)

_MOST_LINES: Final = 100
"""Lines of one failed row. A stray quote may make a row of many, and they must not vanish in one
rejected record; taking them one by one instead could make records of what was a quoted field."""

_Row = tuple[int, int, bytes, list[str] | Rejected]
"""Offset, offset after its end, the row as it came, its values."""


class CsvReader:
    """Every value is a string; an empty one carried to a column of another type is null."""

    def __init__(self, format: CsvFiles, most: int, carry: Carry) -> None:
        """Raises ConfigError."""
        self._format = format
        self._most = most
        self._columns = declared(carry)
        self._fields = Fields(format, self._columns, from_text=True)
        if format.header is not None and (twin := _twin(format.header)) is not None:
            raise ConfigError(f"input.format.header: `{twin}` is there twice; names must differ")

    @property
    def footers(self) -> bool:
        return False

    def columns(self, source: Source | None) -> tuple[Column, ...]:  # noqa: ARG002
        return self._columns

    def cuts(self, source: Source, target: int) -> tuple[int | None, list[int]]:
        extent, cuts = line_cuts(source, target)
        return extent, [] if self._format.newlines_in_fields else cuts

    def records(
        self, source: Source, start: int, stop: int | None, at: int, ordinal: int
    ) -> Iterator[Record]:
        key = source.object.key
        header, data = self._header(source)
        if header is None:
            return
        self._fields.refuse_absent(header, key)
        for offset, end, raw, values in self._rows(source, start, stop, at):
            if offset < data:
                continue
            place = f"{key}@{offset}"
            if isinstance(values, Rejected):
                yield rejected_record(ordinal, place, end, raw, values)
            elif len(values) != len(header):
                fault = unparsable(f"the row has {len(values)} fields, the header {len(header)}")
                yield rejected_record(ordinal, place, end, raw, fault)
            else:
                document = dict(zip(header, values, strict=True))
                yield self._fields.record(ordinal, place, end, raw, document)
            ordinal += 1

    def _header(self, source: Source) -> tuple[Sequence[str] | None, int]:
        """(names of the columns, offset where the data begins); no names: nothing in there."""
        if self._format.header is not None:
            return self._format.header, 0
        for _, end, _, values in self._rows(source, 0, None, 0):
            if isinstance(values, Rejected):
                raise BadInputError(
                    f"{source.object.key}: its header line can't be read: {values.message}"
                )
            if (twin := _twin(values)) is not None:
                raise BadInputError(
                    f"{source.object.key}: its header names `{twin}` twice; rename one, or give "
                    "the names in input.format.header"
                )
            return values, end
        return None, 0

    def _rows(self, source: Source, start: int, stop: int | None, at: int) -> Iterator[_Row]:
        lines = read_lines(source, start, stop, at, self._most)
        if self._format.newlines_in_fields:
            return self._quoted_rows(_Lines(lines, source, self._most))
        return self._line_rows(lines)

    def _line_rows(self, lines: Iterator[Line]) -> Iterator[_Row]:
        for offset, end, raw, over in lines:
            if over:
                yield offset, end, raw, too_large(end - offset, self._most)
            elif raw and not raw.isspace():
                try:
                    values = next(csv.reader([_text(raw)], **self._options))
                except csv.Error as error:
                    yield offset, end, raw, unparsable(f"not valid CSV: {error}")
                else:
                    yield offset, end, raw, _fault(raw) or values

    def _quoted_rows(self, lines: "_Lines") -> Iterator[_Row]:
        rows = csv.reader(lines, **self._options)
        while True:
            lines.begin()
            try:
                values = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                lines.refuse_swallowed()
                yield *lines.taken(), unparsable(f"not valid CSV: {error}")
                continue
            offset, end, raw = lines.taken()
            if raw and not raw.isspace():
                yield offset, end, raw, _fault(raw) or values

    @property
    def _options(self) -> Any:
        return {"delimiter": self._format.delimiter, "strict": True}


class _Lines:
    """Lines as csv.reader pulls them, remembering those of the row that it is in."""

    def __init__(self, lines: Iterator[Line], source: Source, most: int) -> None:
        self._lines = lines
        self._source = source
        self._most = most
        self._row: list[Line] = []
        self._size = 0
        self._ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines, None)
        if line is None:
            self._ended = True
            raise StopIteration
        offset, end, raw, over = line
        self._row.append(line)
        self._size += end - offset
        if over or self._size > self._most + 2:
            raise BadInputError(
                f"{self._source.object.key}: the row at byte {self._row[0][0]:,} is over "
                f"input.max_record_bytes ({show_bytes(self._most)}): {_UNCLOSED}"
            )
        return _text(raw) + _line_end(line)

    def begin(self) -> None:
        """A row starts."""
        self._row.clear()
        self._size = 0

    def taken(self) -> tuple[int, int, bytes]:
        """(offset, end, bytes) of the row, without the end of its last line."""
        *before, last = self._row
        raw = b"".join(line[2] + _line_end(line).encode() for line in before) + last[2]
        return self._row[0][0], last[1], raw

    def refuse_swallowed(self) -> None:
        """Raises BadInputError when a row that failed took more with it than one row may."""
        where = f"{self._source.object.key}: the row at byte {self._row[0][0]:,}"
        if self._ended:
            raise BadInputError(f"{where} does not end before the file does: {_UNCLOSED}")
        if len(self._row) > _MOST_LINES:
            raise BadInputError(f"{where} goes wrong after {len(self._row)} lines: {_UNCLOSED}")


_UNCLOSED: Final = (
    "most likely a quote is opened there and never closed; correct it, or say newlines_in_fields: "
    "false in input.format to reject that line alone"
)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _line_end(line: Line) -> str:
    offset, end, raw, _ = line
    # A byte order mark, too, is counted in the first line but not handed out.
    missing = end - offset - len(raw) - (3 if offset == 0 and end - offset - len(raw) > 2 else 0)
    return "\r\n" if missing == 2 else "\n" if missing else ""


def _fault(raw: bytes) -> Rejected | None:
    if (nul := raw.find(b"\0")) >= 0:
        return unparsable(f"a NUL byte at {nul} of the row")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return unparsable(
            f"not valid UTF-8: byte 0x{raw[error.start]:02x} at {error.start} of the row"
        )
    return None


def _twin(names: Sequence[str]) -> str | None:
    return next((name for i, name in enumerate(names) if name in names[:i]), None)
