"""A record's fields -> Record: its text, its id, its carried columns, or its fault."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from gristmill.contract.column import Column
from gristmill.contract.dataset import CsvFiles, JsonLines, ParquetFiles
from gristmill.contract.errors import ConfigError
from gristmill.contract.record import NO_PARAMS, Input, Record, Rejected, RejectionClass, Stage
from gristmill.contract.units import show_bytes
from gristmill.formats.carry import UnfitError, fit_of
from gristmill.formats.template import WHOLE, Template


class Fields:
    """What the blueprint wants of each record."""

    def __init__(
        self,
        format: JsonLines | ParquetFiles | CsvFiles,
        carried: tuple[Column, ...],
        *,
        from_text: bool = False,
    ) -> None:
        """Raises ConfigError for a template that isn't one."""
        self._text = Template(format.text, "input.format.text")
        self._plain = self._text.plain
        self._pair = Template(format.pair, "input.format.pair") if format.pair else None
        self._id = format.id
        self._carried = [(column, fit_of(column.type, from_text=from_text)) for column in carried]

    @property
    def names(self) -> frozenset[str] | None:
        """Every field that is looked at; None: all."""
        names = self._text.names | (self._pair.names if self._pair else frozenset())
        if WHOLE in names:
            return None
        wanted = {column.name for column, _ in self._carried} | ({self._id} if self._id else set())
        return frozenset(names | wanted)

    def refuse_absent(self, columns: Iterable[str], key: str) -> None:
        """Raises ConfigError when a field that every record needs is no column of `key`."""
        wanted = [("input.format.text", name) for name in sorted(self._text.required)]
        if self._pair:
            wanted += [("input.format.pair", name) for name in sorted(self._pair.required)]
        if self._id:
            wanted.append(("input.format.id", self._id))
        wanted += [("output.carry", column.name) for column, _ in self._carried]
        refuse_absent(wanted, columns, key)

    def record(
        self, ordinal: int, place: str, end: int, raw: bytes, fields: Mapping[str, Any]
    ) -> Record:
        """The record of these fields; with its fault set when they don't serve."""
        id_: str | Rejected = place if self._id is None else self._name(self._id, fields)
        if type(id_) is not str:
            return rejected_record(ordinal, place, end, raw, id_)  # type: ignore[arg-type]
        text: str | Rejected | None = None if self._plain is None else fields.get(self._plain)
        if type(text) is not str or not text or text.isspace():
            text = self._text.render(fields)
            if type(text) is not str:
                return rejected_record(ordinal, place, end, raw, text, id=id_)  # type: ignore[arg-type]
        inputs: tuple[Input, ...] = (text,)
        if self._pair is not None:
            pair = self._pair.render(fields)
            if isinstance(pair, Rejected):
                return rejected_record(ordinal, place, end, raw, pair, id=id_)
            inputs = ((text, pair),)
        carried = self._carry(fields) if self._carried else ()
        if isinstance(carried, Rejected):
            return rejected_record(ordinal, place, end, raw, carried, id=id_)
        return new_record(ordinal, place, end, id_, inputs, raw=raw, carried=carried)

    def _name(self, field: str, fields: Mapping[str, Any]) -> str | Rejected:
        value = fields.get(field)
        if type(value) is str and value:
            return value
        if type(value) is int:
            return str(value)
        if value is None or value == "":
            state = ("empty" if value == "" else "null") if field in fields else "absent"
            return Rejected(
                RejectionClass.MISSING_FIELD,
                Stage.READ,
                f"field `{field}` is {state}, and input.format.id takes the record's id from it",
            )
        return Rejected(
            RejectionClass.WRONG_TYPE,
            Stage.READ,
            f"field `{field}` is {_kind(value)}; an id (input.format.id) must be a string or a "
            "whole number",
        )

    def _carry(self, fields: Mapping[str, Any]) -> tuple[Any, ...] | Rejected:
        values = []
        for column, fit in self._carried:
            value = fields.get(column.name)
            if value is not None:
                try:
                    value = fit(value)
                except UnfitError:
                    return Rejected(
                        RejectionClass.WRONG_TYPE,
                        Stage.READ,
                        f"field `{column.name}` is {_kind(value)} that doesn't fit its column in "
                        f"output.carry, {column.type.value}",
                    )
            values.append(value)
        return tuple(values)


def refuse_absent(wanted: Iterable[tuple[str, str]], columns: Iterable[str], key: str) -> None:
    """`wanted`: path in the blueprint, name. Raises ConfigError naming the nearest column."""
    there = list(columns)
    for path, name in wanted:
        if name in there:
            continue
        near = difflib.get_close_matches(name, there, n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else "its columns: "
        if not near:
            hint += ", ".join(f"`{column}`" for column in there[:20]) or "none"
        raise ConfigError(f"{path}: {key} has no column `{name}`; {hint}")


def too_large(size: int | None, most: int) -> Rejected:
    """`size` None: unknown, as of a line skipped unread."""
    came = "is" if size is None else f"has {show_bytes(size)},"
    return Rejected(
        RejectionClass.TOO_LARGE,
        Stage.READ,
        f"the record {came} over input.max_record_bytes ({show_bytes(most)})",
    )


def rejected_record(
    ordinal: int, place: str, end: int, raw: bytes, fault: Rejected, *, id: str | None = None
) -> Record:
    """A record that reading rejected; without an id it is named by its place."""
    return new_record(ordinal, place, end, id or place, (), raw=raw, fault=fault)


class _Blank:
    """A Record before it is frozen: filling this one costs a quarter of what `Record()` does, and
    reading makes one for every line."""

    __slots__ = Record.__slots__


def new_record(
    ordinal: int,
    place: str,
    end: int,
    id: str,
    inputs: tuple[Input, ...],
    *,
    raw: bytes,
    carried: tuple[Any, ...] = (),
    params: Mapping[str, Any] = NO_PARAMS,
    fault: Rejected | None = None,
) -> Record:
    """Record(...), faster."""
    record: Any = _Blank()
    record.ordinal = ordinal
    record.place = place
    record.end = end
    record.id = id
    record.inputs = inputs
    record.raw = raw
    record.carried = carried
    record.params = params
    record.fault = fault
    record.__class__ = Record
    return record  # type: ignore[no-any-return]


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
