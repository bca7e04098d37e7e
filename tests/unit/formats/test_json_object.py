import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.contract.record import Rejected, RejectionClass
from gristmill.formats.json_object import parse_object

KEYS = st.text(st.sampled_from('ab:" \t\\{'), max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([":", " : ", "\t:"]))
def test_every_object_comes_back_exact(fields: dict[str, Any], colon: str) -> None:
    line = json.dumps(fields, separators=(",", colon), ensure_ascii=False).encode()
    parsed = parse_object(line)
    assert parsed == fields
    assert repr(parsed) == repr(fields)


@given(st.lists(st.tuples(KEYS, VALUES), min_size=2, max_size=4), st.sampled_from([":", " : "]))
def test_an_object_is_refused_exactly_when_a_key_comes_twice(
    pairs: list[tuple[str, Any]], colon: str
) -> None:
    texts = [f"{json.dumps(k)}{colon}{json.dumps(v)}" for k, v in pairs]
    line = ("{" + ",".join(texts) + "}").encode()
    twice = len({k for k, _ in pairs}) < len(pairs)
    assert isinstance(parse_object(line), Rejected) == twice


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a": 1, "a": 2}', "key `a` is given twice"),
        (b'{"a": {"b": 1, "b": 1}}', "key `b` is given twice"),
        (b'{"a": [{"b": 1, "\\u0062": 1}]}', "key `b` is given twice"),
        (b'{"a": NaN}', "not valid JSON: .* at character 6"),
        (b'{"a": 1e999}', "not valid JSON: .*infinity"),
        (b'{"a": "\\ud800"}', "not valid JSON: .*surrogate"),
        (b'{"a": "\xff"}', "not valid UTF-8: byte 0xff at 7 of the line"),
        (b'{"a": "\x00"}', "not valid JSON: a NUL byte at 7"),
        (b'{"a": 1}{"a": 1}', "not valid JSON"),
        (b"{", "each line must hold one whole JSON object"),
        (
            b"[1, 2]",
            r"the line is a list; it must be a JSON object \(if the whole file is one list",
        ),
        (b'"a"', "the line is a string"),
        (b"7", "the line is a number"),
        (b"null", "the line is null"),
        (b"true", "the line is true or false"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "not valid JSON"),
    ],
)
def test_a_line_that_is_no_object_says_why(line: bytes, message: str) -> None:
    rejected = parse_object(line)
    assert isinstance(rejected, Rejected)
    assert rejected.reason is RejectionClass.UNPARSABLE
    assert re.search(message, rejected.message)


@pytest.mark.parametrize("number", [2**63, 2**64, 2**64 + 1, -(2**63) - 1, 10**40 + 7])
def test_integers_beyond_64_bits_are_exact(number: int) -> None:
    assert parse_object(f'{{"a": {number}, "b": [{number}]}}'.encode()) == {
        "a": number,
        "b": [number],
    }
