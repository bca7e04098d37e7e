import json
from typing import Any

import pytest

from gristmill.contract.record import Record, RejectionClass
from gristmill.formats.openai_reader import OpenAiReader
from tests.doubles.memory_source import MemorySource

REQUEST: dict[str, Any] = {
    "custom_id": "c1",
    "method": "POST",
    "url": "/v1/embeddings",
    "body": {"model": "m", "input": "hello"},
}


def read(*lines: dict[str, Any] | bytes, most: int = 10**6) -> list[Record]:
    body = b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines)
    source = MemorySource("a.jsonl", body)
    return list(OpenAiReader(most).records(source, 0, len(body), 0, 0))


def with_body(**body: Any) -> dict[str, Any]:
    return {**REQUEST, "body": {**REQUEST["body"], **body}}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in REQUEST.items() if key != name}


def test_a_request_becomes_a_record() -> None:
    (record,) = read(with_body(dimensions=8, encoding_format="base64", user="u"))
    assert (record.id, record.place, record.inputs) == ("c1", "a.jsonl@0", ("hello",))
    assert record.params == {
        "model": "m",
        "dimensions": 8,
        "encoding_format": "base64",
        "single": True,
    }


@pytest.mark.parametrize(
    ("given", "inputs", "single"),
    [
        ("a", ("a",), True),
        (["a", "b"], ("a", "b"), False),
        (["a"], ("a",), False),
        ([1, 2], ((1, 2),), True),
        ([[1, 2], [3]], ((1, 2), (3,)), False),
    ],
)
def test_every_form_of_input_is_read(given: Any, inputs: Any, single: bool) -> None:
    (record,) = read(with_body(input=given))
    assert record.inputs == inputs
    assert record.params["single"] is single


@pytest.mark.parametrize(
    ("line", "reason", "words"),
    [
        (b"{", "unparsable", "not valid JSON"),
        (b"[]", "unparsable", "must be a JSON object"),
        (without("custom_id"), "missing_field", "`custom_id` is missing"),
        (without("method"), "missing_field", "`method` is missing"),
        (without("url"), "missing_field", "`url` is missing"),
        (without("body"), "missing_field", "`body` is missing"),
        ({**REQUEST, "custom_id": 5}, "wrong_type", "`custom_id` must be a string"),
        ({**REQUEST, "custom_id": ""}, "missing_field", "`custom_id` is missing: it is empty"),
        ({**REQUEST, "body": "x"}, "wrong_type", "`body` must be an object"),
        ({**REQUEST, "method": "GET"}, "unsupported", "`method` is `GET`; supported here: POST"),
        (
            {**REQUEST, "url": "/v1/chat/completions"},
            "unsupported",
            "`url` is `/v1/chat/completions`; supported here: /v1/embeddings",
        ),
        (with_body(model=None), "missing_field", "`body.model` is missing"),
        (with_body(model=5), "wrong_type", "`body.model` must be a string"),
        (with_body(input=None), "missing_field", "`body.input` is missing"),
        (with_body(input=" "), "missing_field", "the text is empty"),
        (with_body(input=[]), "missing_field", "the list is empty"),
        (with_body(input=["a", ""]), "missing_field", "`body.input[1]` is missing"),
        (with_body(input=["a", 1]), "wrong_type", "`body.input` must be a string, a list of"),
        (with_body(input=[[1], []]), "wrong_type", "none empty"),
        (with_body(input=[-1]), "wrong_type", "`body.input`"),
        (with_body(input=[True]), "wrong_type", "`body.input`"),
        (with_body(input=[1.5]), "wrong_type", "`body.input`"),
        (with_body(dimensions=0), "wrong_type", "`body.dimensions` must be a whole number"),
        (with_body(dimensions=True), "wrong_type", "`body.dimensions`"),
        (with_body(encoding_format="hex"), "wrong_type", "`float` or `base64`"),
        (with_body(encoding_format=[1]), "wrong_type", "`float` or `base64`"),
        (with_body(temperature=1), "unsupported", "`body.temperature` is not supported"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_rejected_for_what_is_wrong(line: Any, reason: str, words: str) -> None:
    bad, good = read(line, REQUEST)
    assert bad.fault is not None
    assert bad.fault.reason is RejectionClass(reason)
    assert words in bad.fault.message
    assert good.fault is None


def test_a_wrong_line_keeps_its_custom_id_where_it_has_one() -> None:
    assert [r.id for r in read({**REQUEST, "method": "GET"}, b"[")] == ["c1", "a.jsonl@104"]


def test_blank_lines_are_no_records() -> None:
    assert len(read(b"", REQUEST, b"  ", REQUEST, b"")) == 2


def test_a_line_over_the_limit_is_too_large() -> None:
    large, small = read(with_body(input="x" * 5000), REQUEST, most=1000)
    assert large.fault is not None
    assert large.fault.reason is RejectionClass.TOO_LARGE
    assert small.fault is None
