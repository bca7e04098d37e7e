"""Outcomes of a part that was cut short <-> bytes: a head, then one JSON line an outcome.

Exact: a part finished from its partials has the bytes of one that was never cut.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gristmill.contract.canonical import canonical_json, decode
from gristmill.contract.column import Column, ColumnType
from gristmill.contract.errors import StorageError
from gristmill.contract.manifest import PartialManifest
from gristmill.contract.record import Completed, Outcome, Rejected, RejectionClass, Stage

_VECTORS = (ColumnType.VECTOR, ColumnType.VECTORS)


def encode_partial(
    head: PartialManifest, columns: Sequence[Column], outcomes: Mapping[int, Outcome]
) -> bytes:
    """`outcomes`: index in the part -> outcome."""
    return canonical_json(head) + b"\n" + b"".join(_lines(columns, outcomes))


def decode_partial(
    body: bytes, columns: Sequence[Column], where: str
) -> tuple[PartialManifest, dict[int, Outcome]]:
    """Raises StorageError when it is not whole."""
    first, _, rest = body.partition(b"\n")
    head = decode(PartialManifest, first, where)
    lines = rest.splitlines()
    if len(lines) != head.records:
        raise StorageError(
            f"{where}: holds {len(lines)} outcomes of {head.records}; delete it, and its part is "
            "computed again"
        )
    return head, dict(_outcome(columns, line) for line in lines)


def _lines(columns: Sequence[Column], outcomes: Mapping[int, Outcome]) -> Iterator[bytes]:
    for index, outcome in sorted(outcomes.items()):
        line: list[Any] = [index]
        if isinstance(outcome, Rejected):
            line += [outcome.reason, outcome.stage, outcome.message]
        else:
            line += [None, *map(_plain, columns, outcome.values)]
        yield json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"


def _plain(column: Column, value: Any) -> Any:
    if column.type not in _VECTORS:
        # NumPy's scalars are no JSON, and become the Python number that is exactly theirs.
        return value.item() if isinstance(value, np.generic) else value
    floats = np.ascontiguousarray(value, dtype="<f4")
    return [list(floats.shape), base64.b64encode(floats.tobytes()).decode("ascii")]


def _outcome(columns: Sequence[Column], line: bytes) -> tuple[int, Outcome]:
    index, reason, *rest = json.loads(line)
    if reason is not None:
        stage, message = rest
        return index, Rejected(RejectionClass(reason), Stage(stage), message)
    return index, Completed(tuple(map(_value, columns, rest)))


def _value(column: Column, plain: Any) -> Any:
    if column.type not in _VECTORS:
        return plain
    shape, text = plain
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(shape)
