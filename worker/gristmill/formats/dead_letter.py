"""The dead letter: every rejected record with its original, for people and for a second try."""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from gristmill.contract.record import Outcome, Record, Rejected
from gristmill.formats.lines import KEPT


def encode_dead_letter(
    records: Sequence[Record], outcomes: Sequence[Outcome], attempt: str
) -> tuple[bytes, int]:
    """(JSON lines, how many). Bodies of one shard may be concatenated.

    The original is in `record` when it is text, else in `record_base64`; of a record over
    `input.max_record_bytes` and of a binary file, only the first 4 KiB.
    """
    lines = []
    for record, outcome in zip(records, outcomes, strict=True):
        if isinstance(outcome, Rejected):
            line = _line(record, outcome, attempt)
            lines.append(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return b"".join(lines), len(lines)


def _line(record: Record, outcome: Rejected, attempt: str) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": record.id,
        "place": record.place,
        "class": outcome.reason.value,
        "stage": outcome.stage.value,
        "message": outcome.message,
        "attempt": attempt,
    }
    binary = bool(record.inputs) and isinstance(record.inputs[0], bytes)
    raw = record.raw[:KEPT] if binary else record.raw
    try:
        line["record"] = raw.decode()
    except UnicodeDecodeError:
        line["record_base64"] = base64.b64encode(raw).decode()
    return line


def read_dead_letter(path: Path) -> Iterator[tuple[str, str]]:
    """(place, id) of each record in a dead letter, in order."""
    with path.open("rb") as lines:
        for line in lines:
            letter = orjson.loads(line)
            yield letter["place"], letter["id"]
