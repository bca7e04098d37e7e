"""JSON lines: one object a line, read in splits; one object a result."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.dataset import JsonLines
from gristmill.contract.record import Completed, Outcome, Record
from gristmill.formats.carry import Carry, declared
from gristmill.formats.fields import Fields, rejected_record, too_large
from gristmill.formats.json_object import parse_object
from gristmill.formats.lines import line_cuts, read_lines
from gristmill.formats.protocol import Source

_ID: Final = re.compile(rb'\{"id":("(?:[^"\\]|\\.)*")')


class JsonLinesReader:
    """Cut by bytes, anywhere; a record's place is the offset of its line."""

    def __init__(self, format: JsonLines, most: int, carry: Carry) -> None:
        self._columns = declared(carry)
        self._fields = Fields(format, self._columns)
        self._most = most

    @property
    def footers(self) -> bool:
        return False

    def columns(self, source: Source | None) -> tuple[Column, ...]:  # noqa: ARG002
        return self._columns

    def cuts(self, source: Source, target: int) -> tuple[int | None, list[int]]:
        return line_cuts(source, target)

    def records(
        self, source: Source, start: int, stop: int | None, at: int, ordinal: int
    ) -> Iterator[Record]:
        key = source.object.key
        record = self._fields.record
        for offset, end, line, over in read_lines(source, start, stop, at, self._most):
            if (not line or line.isspace()) and not over:
                continue
            place = f"{key}@{offset}"
            if over:
                fault = too_large(end - offset, self._most)
                yield rejected_record(ordinal, place, end, line, fault)
            else:
                fields = parse_object(line)
                if type(fields) is dict:
                    yield record(ordinal, place, end, line, fields)
                else:
                    yield rejected_record(ordinal, place, end, line, fields)  # type: ignore[arg-type]
            ordinal += 1


class JsonLinesWriter:
    """`id`, what the engine made, what was carried. float32 is written in its shortest form, NaN
    and infinities as null."""

    def __init__(self, engine_columns: tuple[Column, ...], carried: tuple[Column, ...]) -> None:
        self._engine = engine_columns
        self._carried = carried

    @property
    def extensions(self) -> Mapping[str, str]:
        return {"results": "jsonl"}

    def encode(
        self, records: Sequence[Record], outcomes: Sequence[Outcome]
    ) -> dict[str, tuple[bytes, int]]:
        names = [column.name for column in self._engine]
        vectors = [
            i
            for i, column in enumerate(self._engine)
            if column.type in (ColumnType.VECTOR, ColumnType.VECTORS)
        ]
        json_columns = [c.name for c in self._engine + self._carried if c.type == ColumnType.JSON]
        carried = [column.name for column in self._carried]
        lines = []
        for record, outcome in zip(records, outcomes, strict=True):
            if type(outcome) is not Completed:
                continue
            row: dict[str, Any] = {"id": record.id}
            row.update(zip(names, outcome.values, strict=True))
            for i in vectors:
                row[names[i]] = np.ascontiguousarray(outcome.values[i], dtype=np.float32)
            if carried:
                row.update(zip(carried, record.carried, strict=True))
            for name in json_columns:
                if row[name] is not None:
                    row[name] = orjson.Fragment(row[name])
            lines.append(
                orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
            )
        return {"results": (b"".join(lines), len(lines))}

    def merge(self, name: str, bodies: Iterable[bytes], target: Path) -> None:  # noqa: ARG002
        concatenate(bodies, target)

    def ids(self, name: str, path: Path) -> Iterator[str]:  # noqa: ARG002
        with path.open("rb") as lines:
            for line in lines:
                match = _ID.match(line)
                yield orjson.loads(match[1]) if match else orjson.loads(line)["id"]

    def lines(self, path: Path) -> Iterator[str]:
        return text_lines(path)


def text_lines(path: Path) -> Iterator[str]:
    """Lines of a file that we wrote, without their ends."""
    with path.open("rb") as lines:
        for line in lines:
            yield line.rstrip(b"\n").decode()


def concatenate(bodies: Iterable[bytes], target: Path) -> None:
    """Bodies of whole lines, one after the other."""
    with target.open("wb") as out:
        for body in bodies:
            out.write(body)
