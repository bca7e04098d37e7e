import base64
import json
from pathlib import Path
from typing import Any

from gristmill.contract.record import (
    Completed,
    Input,
    Outcome,
    Record,
    Rejected,
    RejectionClass,
    Stage,
)
from gristmill.formats.dead_letter import encode_dead_letter, read_dead_letter

REJECTED = Rejected(RejectionClass.TOO_LONG, Stage.PREPARE, "has 9 tokens, the limit is 8")


def record(raw: bytes, inputs: tuple[Input, ...] = ("t",)) -> Record:
    return Record(0, "a@0", 1, "k", inputs, raw)


def letters(records: list[Record], outcomes: list[Outcome]) -> list[dict[str, Any]]:
    body, count = encode_dead_letter(records, outcomes, "attempt-1")
    lines = [json.loads(line) for line in body.splitlines()]
    assert len(lines) == count
    return lines


def test_a_letter_says_which_record_was_rejected_why_and_by_whom() -> None:
    assert letters([record("{é}".encode())], [REJECTED]) == [
        {
            "id": "k",
            "place": "a@0",
            "class": "too_long",
            "stage": "prepare",
            "message": "has 9 tokens, the limit is 8",
            "attempt": "attempt-1",
            "record": "{é}",
        }
    ]


def test_completed_records_have_no_letter() -> None:
    assert encode_dead_letter([record(b"x")], [Completed((1,))], "a") == (b"", 0)


def test_an_original_that_is_not_utf8_is_base64() -> None:
    (letter,) = letters([record(b"\xff" * 5000)], [REJECTED])
    assert base64.b64decode(letter["record_base64"]) == b"\xff" * 5000
    assert "record" not in letter


def test_of_a_binary_file_only_the_beginning_is_kept() -> None:
    (letter,) = letters([record(b"\xff" * 5000, (b"\xff" * 5000,))], [REJECTED])
    assert len(base64.b64decode(letter["record_base64"])) == 4096


def test_letters_are_read_back_in_order(tmp_path: Path) -> None:
    body, _ = encode_dead_letter([record(b"x"), record(b"y")], [REJECTED] * 2, "a")
    (tmp_path / "rejected").write_bytes(body)
    assert list(read_dead_letter(tmp_path / "rejected")) == [("a@0", "k")] * 2
