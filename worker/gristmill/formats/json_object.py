"""One line -> one JSON object, strictly: no key twice, no NaN, every integer exact."""

import json
from typing import Any, Final

import orjson

from gristmill.contract.record import Rejected, RejectionClass, Stage

_BIG: Final = 9.2e18
"""orjson makes a float of an integer beyond 64 bits; from here on a float is looked at again."""


def parse_object(line: bytes) -> dict[str, Any] | Rejected:
    """The object, or why the line isn't one."""
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _invalid(line, error)
    if type(fields) is not dict:
        return unparsable(_not_an_object(fields))
    for value in fields.values():
        kind = type(value)
        if kind is dict or kind is list or (kind is float and not -_BIG < value < _BIG):
            return _examine(line, fields)
    # Every key has a colon, and colons inside strings only push the count up.
    if line.count(b":") == len(fields):
        return fields
    return _examine(line, fields)


def unparsable(message: str) -> Rejected:
    return Rejected(RejectionClass.UNPARSABLE, Stage.READ, message)


def _examine(line: bytes, fields: dict[str, Any]) -> dict[str, Any] | Rejected:
    """Parse again, slowly, unless counting proves that no key comes twice."""
    keys, big = _survey(fields)
    # A key ends in a quote, perhaps blanks, and a colon. Strings that hold these push the count up.
    colons = line.count(b'":') + line.count(b" :") + line.count(b"\t:") + line.count(b"\r:")
    if colons == keys and not big:
        return fields
    try:
        exact = json.loads(line.decode(), object_pairs_hook=_without_twins)
    except _TwinError as error:
        return unparsable(f"key `{_short(error.key)}` is given twice in one object")
    except RecursionError:
        return unparsable("not valid JSON: nested too deeply")
    except ValueError:
        return unparsable("not valid JSON: an integer has too many digits")
    return exact  # type: ignore[no-any-return]


def _survey(fields: dict[str, Any]) -> tuple[int, bool]:
    """(keys at all depths, whether some float may have been an integer)."""
    keys, big = 0, False
    todo: list[Any] = [fields]
    while todo:
        node = todo.pop()
        if type(node) is dict:
            keys += len(node)
            node = node.values()
        for value in node:
            kind = type(value)
            if kind is dict or kind is list:
                todo.append(value)
            elif kind is float and not -_BIG < value < _BIG:
                big = True
    return keys, big


class _TwinError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _TwinError(key)
            seen.add(key)
    return fields


def _invalid(line: bytes, error: orjson.JSONDecodeError) -> Rejected:
    try:
        line.decode()
    except UnicodeDecodeError as fault:
        return unparsable(
            f"not valid UTF-8: byte 0x{line[fault.start]:02x} at {fault.start} of the line"
        )
    if (nul := line.find(b"\0")) >= 0:
        return unparsable(f"not valid JSON: a NUL byte at {nul} of the line")
    hint = ""
    if line.strip() in (b"{", b"[", b"[{"):
        hint = "; each line must hold one whole JSON object (`jq -c '.[]'` or `jq -c .` makes that)"
    return unparsable(f"not valid JSON: {error.msg}, at character {error.pos} of the line{hint}")


def _not_an_object(value: object) -> str:
    came = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}.get(
        type(value), "a number"
    )
    hint = (
        " (if the whole file is one list, `jq -c '.[]'` makes lines of it)"
        if isinstance(value, list)
        else ""
    )
    return f"the line is {came}; it must be a JSON object{hint}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
