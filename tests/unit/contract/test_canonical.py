import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.contract.canonical import canonical_json, decode, digest, sha256
from gristmill.contract.errors import StorageError
from gristmill.contract.manifest import Counts
from gristmill.contract.record import RejectionClass

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), PLAIN, max_size=5))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_json(backwards) == canonical_json(value)
    assert digest(backwards) == digest(value)


def test_it_has_sorted_keys_no_blanks_and_utf8() -> None:
    assert canonical_json({"b": [1, "ü"], "a": None}) == '{"a":null,"b":[1,"ü"]}'.encode()


def test_another_value_has_another_digest() -> None:
    assert digest({"a": 1}) != digest({"a": "1"}) != digest({"a": 1, "b": None})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_does_not_have_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": value})


def test_a_model_comes_back_as_it_was() -> None:
    counts = Counts(records=3, ok=2, rejected={RejectionClass.TOO_LONG: 1})
    assert decode(Counts, canonical_json(counts), "x") == counts


@pytest.mark.parametrize(
    ("body", "what"),
    [(b"", "the whole"), (b'{"records": 1', "the whole"), (b'{"records": "x"}', "records"),
     (b'{"later": 1}', "later")],
)  # fmt: skip
def test_a_damaged_document_is_named_with_the_field(body: bytes, what: str) -> None:
    with pytest.raises(StorageError, match=rf"s3://b/k: is no Counts of .*\({what}: .*damaged, or"):
        decode(Counts, body, "s3://b/k")


def test_sha256_is_that_of_the_bytes() -> None:
    assert sha256(b"abc").startswith("ba7816bf8f01cfea")
