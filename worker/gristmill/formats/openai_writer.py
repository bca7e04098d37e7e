"""OpenAI batch result lines: `results` for what was answered, `errors` for what was not."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from gristmill.contract.column import Column
from gristmill.contract.record import Completed, Outcome, Record, Rejected, RejectionClass, Stage
from gristmill.formats.jsonl import concatenate, text_lines

EMBEDDING: Final = "embedding"
TOKENS: Final = "tokens"
_STRING: Final = rb'("(?:[^"\\]|\\.)*")'
_LINE: Final = re.compile(rb'\{"id":' + _STRING + rb',"custom_id":(?:' + _STRING + rb"|null)")

_CODES: Final = {
    RejectionClass.TOO_LONG: "context_length_exceeded",
    RejectionClass.MISSING_FIELD: "missing_required_parameter",
    RejectionClass.UNSUPPORTED: "unsupported_value",
    RejectionClass.ENGINE: "server_error",
}


class OpenAiWriter:
    """Ids come from the record's place, so the same record always gets the same ones.

    To encode, the engine's columns must be `embedding` (vectors) and `tokens` (int64).
    """

    def __init__(self, engine_columns: tuple[Column, ...]) -> None:
        self._names = [column.name for column in engine_columns]

    @property
    def extensions(self) -> Mapping[str, str]:
        return {"results": "jsonl", "errors": "jsonl"}

    def encode(
        self, records: Sequence[Record], outcomes: Sequence[Outcome]
    ) -> dict[str, tuple[bytes, int]]:
        results, errors = [], []
        for record, outcome in zip(records, outcomes, strict=True):
            if isinstance(outcome, Completed):
                body = self._body(record, outcome)
                results.append(_line(record, _response(record, 200, body), None))
            elif outcome.stage is Stage.READ:
                error = {"code": outcome.reason.value, "message": outcome.message}
                errors.append(_line(record, None, error))
            else:
                response = _response(record, *_failure(outcome))
                errors.append(_line(record, response, None))
        files = {"results": (b"".join(results), len(results))}
        if errors:
            files["errors"] = (b"".join(errors), len(errors))
        return files

    def merge(self, name: str, bodies: Iterable[bytes], target: Path) -> None:  # noqa: ARG002
        concatenate(bodies, target)

    def ids(self, name: str, path: Path) -> Iterator[str]:  # noqa: ARG002
        """The custom_id; of a line that had none, the line's own id."""
        with path.open("rb") as lines:
            for line in lines:
                match = _LINE.match(line)
                if match is None:
                    raise ValueError(f"{path}: a line is no result line")
                yield orjson.loads(match[2] or match[1])

    def lines(self, path: Path) -> Iterator[str]:
        return text_lines(path)

    def _body(self, record: Record, outcome: Completed) -> dict[str, Any]:
        values = dict(zip(self._names, outcome.values, strict=True))
        vectors = shorten(
            np.asarray(values[EMBEDDING], dtype=np.float32), record.params["dimensions"]
        )
        tokens = int(values[TOKENS])
        encode = _base64 if record.params["encoding_format"] == "base64" else _floats
        return {
            "object": "list",
            "data": [
                {"object": "embedding", "index": index, "embedding": encode(vector)}
                for index, vector in enumerate(vectors)
            ],
            "model": record.params["model"],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }


def shorten(vectors: np.ndarray[Any, Any], dimensions: int | None) -> np.ndarray[Any, Any]:
    """The first `dimensions` floats of each row, brought back to length 1, as OpenAI describes
    it. Rows already of that many stay as they are."""
    if dimensions is None or dimensions == vectors.shape[1]:
        return vectors
    if dimensions > vectors.shape[1]:
        raise ValueError(
            f"dimensions: {dimensions} were asked for, but the model's vectors have "
            f"{vectors.shape[1]}; such a record must be rejected before it is inferred"
        )
    cut = vectors[:, :dimensions].astype(np.float64)
    norms = np.sqrt(np.sum(cut * cut, axis=1, keepdims=True))
    return (cut / np.where(norms == 0, 1, norms)).astype(np.float32)


def _floats(vector: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(vector)


def _base64(vector: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _line(record: Record, response: dict[str, Any] | None, error: dict[str, Any] | None) -> bytes:
    line = {
        "id": f"batch_req_{_digest(record, 'line')}",
        "custom_id": None if record.id == record.place else record.id,
        "response": response,
        "error": error,
    }
    return orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)


def _response(record: Record, status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "status_code": status,
        "request_id": f"req_{_digest(record, 'request')}",
        "body": body,
    }


def _failure(outcome: Rejected) -> tuple[int, dict[str, Any]]:
    broke = outcome.reason is RejectionClass.ENGINE
    error = {
        "message": outcome.message,
        "type": "server_error" if broke else "invalid_request_error",
        "param": None if broke else "input",
        "code": _CODES.get(outcome.reason, outcome.reason.value),
    }
    return (500 if broke else 400), {"error": error}


def _digest(record: Record, purpose: str) -> str:
    return hashlib.sha256(f"{purpose}:{record.place}".encode()).hexdigest()[:32]
