import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.record import Completed, Outcome, Record, Rejected, RejectionClass, Stage
from gristmill.formats.openai_writer import OpenAiWriter, shorten

WRITER = OpenAiWriter(
    (
        Column(name="embedding", type=ColumnType.VECTORS, length=4),
        Column(name="tokens", type=ColumnType.INT64),
    )
)
VECTORS = np.array([[0.1, 0.2, 0.3, 0.4], [3, 4, 0, 5]], np.float32)


def record(id: str = "c1", **params: Any) -> Record:
    options = {"model": "m", "dimensions": None, "encoding_format": "float", "single": True}
    return Record(0, "a.jsonl@0", 1, id, ("t",), b"raw", params=options | params)


def encode(item: Record, outcome: Outcome) -> dict[str, Any]:
    return {
        name: json.loads(body) for name, (body, n) in WRITER.encode([item], [outcome]).items() if n
    }


def answered(**params: Any) -> dict[str, Any]:
    line = encode(record(**params), Completed((VECTORS, 7)))["results"]
    body: dict[str, Any] = line["response"]["body"]
    return body


def test_an_answer_has_the_shape_of_a_batch_result() -> None:
    line = encode(record(), Completed((VECTORS, 7)))["results"]
    assert list(line) == ["id", "custom_id", "response", "error"]
    assert line["id"].startswith("batch_req_")
    assert line["custom_id"] == "c1"
    assert line["error"] is None
    assert line["response"]["status_code"] == 200
    assert line["response"]["request_id"].startswith("req_")
    assert line["response"]["body"] == {
        "object": "list",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [0.1, 0.2, 0.3, 0.4]},
            {"object": "embedding", "index": 1, "embedding": [3.0, 4.0, 0.0, 5.0]},
        ],
        "model": "m",
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }


def test_base64_holds_little_endian_float32() -> None:
    data = answered(encoding_format="base64")["data"]
    assert np.frombuffer(base64.b64decode(data[1]["embedding"]), "<f4").tolist() == [3, 4, 0, 5]


def test_fewer_dimensions_are_the_first_ones_brought_to_length_one() -> None:
    data = answered(dimensions=2)["data"]
    assert data[1]["embedding"] == pytest.approx([0.6, 0.8])
    assert shorten(np.zeros((1, 4), np.float32), 2).tolist() == [[0, 0]]
    assert shorten(VECTORS, 4) is VECTORS


def test_more_dimensions_than_there_are_are_an_error() -> None:
    with pytest.raises(ValueError, match="dimensions: 5 were asked for"):
        shorten(VECTORS, 5)


@pytest.mark.parametrize(
    ("reason", "stage", "status", "type_", "code"),
    [
        ("too_long", Stage.PREPARE, 400, "invalid_request_error", "context_length_exceeded"),
        ("unsupported", Stage.PREPARE, 400, "invalid_request_error", "unsupported_value"),
        ("engine", Stage.INFER, 500, "server_error", "server_error"),
    ],
)
def test_what_failed_in_the_model_has_a_status(
    reason: str, stage: Stage, status: int, type_: str, code: str
) -> None:
    files = encode(record(), Rejected(RejectionClass(reason), stage, "why"))
    assert list(files) == ["errors"]
    line = files["errors"]
    assert line["error"] is None
    assert line["response"]["status_code"] == status
    error = line["response"]["body"]["error"]
    assert (error["message"], error["type"], error["code"]) == ("why", type_, code)
    assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("id_", ["c1", "a.jsonl@0"])
def test_what_could_not_be_read_has_no_response(id_: str) -> None:
    outcome = Rejected(RejectionClass.UNPARSABLE, Stage.READ, "not valid JSON")
    line = encode(record(id_), outcome)["errors"]
    assert line["custom_id"] == (None if id_ == "a.jsonl@0" else id_)
    assert line["response"] is None
    assert line["error"] == {"code": "unparsable", "message": "not valid JSON"}


def test_ids_are_custom_ids_and_line_ids_where_there_is_none(tmp_path: Path) -> None:
    outcome = Rejected(RejectionClass.UNPARSABLE, Stage.READ, 'x","custom_id":"other"')
    items = [record('c "1"'), record("a.jsonl@0")]
    body = WRITER.encode(items, [outcome] * 2)["errors"][0]
    WRITER.merge("errors", [body], tmp_path / "errors")
    first, second = WRITER.ids("errors", tmp_path / "errors")
    assert first == 'c "1"'
    assert second.startswith("batch_req_")
