"""OpenAI batch request lines for /v1/embeddings."""

from collections.abc import Iterator
from typing import Any, Final

from gristmill.contract.column import Column
from gristmill.contract.record import Input, Record, Rejected, RejectionClass, Stage
from gristmill.formats.fields import new_record, rejected_record, too_large
from gristmill.formats.json_object import parse_object
from gristmill.formats.lines import line_cuts, read_lines
from gristmill.formats.protocol import Source

URL: Final = "/v1/embeddings"
_FIELDS: Final = (("custom_id", str), ("method", str), ("url", str), ("body", dict))
_BODY: Final = ("model", "input", "dimensions", "encoding_format", "user")

_Request = tuple[tuple[Input, ...], dict[str, Any]]
"""What the engine looks at, and the record's params."""


class OpenAiReader:
    """A record's id is its custom_id. Its params: `model`, `dimensions` (None: all),
    `encoding_format` and `single` (`input` was not a list of inputs)."""

    def __init__(self, most: int) -> None:
        self._most = most

    @property
    def footers(self) -> bool:
        return False

    def columns(self, source: Source | None) -> tuple[Column, ...]:  # noqa: ARG002
        return ()

    def cuts(self, source: Source, target: int) -> tuple[int | None, list[int]]:
        return line_cuts(source, target)

    def records(
        self, source: Source, start: int, stop: int | None, at: int, ordinal: int
    ) -> Iterator[Record]:
        for offset, end, line, over in read_lines(source, start, stop, at, self._most):
            if (not line or line.isspace()) and not over:
                continue
            place = f"{source.object.key}@{offset}"
            if over:
                fault = too_large(end - offset, self._most)
                yield rejected_record(ordinal, place, end, line, fault)
            else:
                yield _record(ordinal, place, end, line)
            ordinal += 1


def _record(ordinal: int, place: str, end: int, line: bytes) -> Record:
    fields = parse_object(line)
    if isinstance(fields, Rejected):
        return rejected_record(ordinal, place, end, line, fields)
    custom_id = fields.get("custom_id")
    id_ = custom_id if isinstance(custom_id, str) and custom_id else place
    request = _envelope(fields) or _request(fields["body"])
    if isinstance(request, Rejected):
        return rejected_record(ordinal, place, end, line, request, id=id_)
    inputs, params = request
    return new_record(ordinal, place, end, id_, inputs, raw=line, params=params)


def _envelope(fields: dict[str, Any]) -> Rejected | None:
    for name, type_ in _FIELDS:
        if fields.get(name) is None:
            return _missing(name, "every line needs custom_id, method, url and body")
        if not isinstance(fields[name], type_):
            wanted = "a string" if type_ is str else "an object"
            return _wrong(name, f"must be {wanted}")
    if not fields["custom_id"]:
        return _missing("custom_id", "it is empty")
    if fields["method"] != "POST":
        return _unsupported("method", fields["method"], "POST")
    if fields["url"] != URL:
        return _unsupported("url", fields["url"], URL)
    return None


def _request(body: dict[str, Any]) -> _Request | Rejected:
    for name in ("model", "input"):
        if body.get(name) is None:
            return _missing(f"body.{name}", "/v1/embeddings needs it")
    if not isinstance(body["model"], str) or not body["model"]:
        return _wrong("body.model", "must be a string that isn't empty")
    dimensions = body.get("dimensions")
    if dimensions is not None and (type(dimensions) is not int or dimensions < 1):
        return _wrong("body.dimensions", "must be a whole number from 1 on")
    encoding = body.get("encoding_format")
    if encoding not in (None, "float", "base64"):
        return _wrong("body.encoding_format", "must be `float` or `base64`")
    unknown = sorted(body.keys() - set(_BODY))
    if unknown:
        return _unsupported(f"body.{unknown[0][:40]}", None, ", ".join(_BODY))
    inputs = _inputs(body["input"])
    if isinstance(inputs, Rejected):
        return inputs
    several = isinstance(body["input"], list) and not isinstance(body["input"][0], int)
    return inputs, {
        "model": body["model"],
        "dimensions": dimensions,
        "encoding_format": encoding or "float",
        "single": not several,
    }


def _inputs(value: object) -> tuple[Input, ...] | Rejected:
    if isinstance(value, str):
        return (value,) if value.strip() else _missing("body.input", "the text is empty")
    if not isinstance(value, list):
        return _wrong("body.input", _FORMS)
    if not value:
        return _missing("body.input", "the list is empty")
    if _is_tokens(value):
        return (tuple(value),)
    if all(isinstance(item, str) for item in value):
        empty = next((i for i, item in enumerate(value) if not item.strip()), None)
        if empty is not None:
            return _missing(f"body.input[{empty}]", "the text is empty")
        return tuple(value)
    if all(isinstance(item, list) and _is_tokens(item) for item in value):
        return tuple(tuple(item) for item in value)
    return _wrong("body.input", _FORMS)


_FORMS: Final = (
    "must be a string, a list of strings, a list of token ids, or a list of such lists, none empty"
)


def _is_tokens(value: list[Any]) -> bool:
    return bool(value) and all(type(item) is int and 0 <= item < 2**31 for item in value)


def _missing(name: str, why: str) -> Rejected:
    return Rejected(RejectionClass.MISSING_FIELD, Stage.READ, f"`{name}` is missing: {why}")


def _wrong(name: str, wanted: str) -> Rejected:
    return Rejected(RejectionClass.WRONG_TYPE, Stage.READ, f"`{name}` {wanted}")


def _unsupported(name: str, came: str | None, allowed: str) -> Rejected:
    got = "is not supported" if came is None else f"is `{came[:60]}`"
    return Rejected(
        RejectionClass.UNSUPPORTED, Stage.READ, f"`{name}` {got}; supported here: {allowed}"
    )
