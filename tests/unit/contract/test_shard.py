import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.contract.shard import (
    Cursor,
    InputObject,
    Shard,
    Split,
    decode_page,
    encode_page,
    share_before,
)

NAMES = st.text(min_size=1, max_size=8)
OBJECTS = st.builds(
    InputObject, NAMES, st.integers(0, 2**40), NAMES, st.none() | st.integers(0, 2**40)
)
SPLITS = st.builds(Split, st.integers(0, 2), st.integers(0, 99), st.none() | st.integers(0, 99))
SHARDS = st.builds(
    Shard,
    st.integers(0, 10**6),
    st.lists(OBJECTS, min_size=1, max_size=3).map(tuple),
    st.lists(SPLITS, min_size=1, max_size=3).map(tuple),
)


@given(st.lists(SHARDS, max_size=4))
def test_a_page_comes_back_as_it_was(shards: list[Shard]) -> None:
    page = encode_page(shards)
    assert list(decode_page(page)) == shards
    assert encode_page(decode_page(page)) == page


def test_a_page_has_a_line_a_shard_whatever_the_keys() -> None:
    odd = InputObject("a\nb\u2028c\r#?%2F+ é", 1, '"etag"', None)
    shards = [Shard(i, (odd,), (Split(0, 0, None),)) for i in range(3)]
    assert encode_page(shards).count(b"\n") == 3
    assert list(decode_page(encode_page(shards))) == shards


@pytest.mark.parametrize(
    ("cursor", "share"),
    [
        (Cursor(0, 0), 0.0),
        (Cursor(0, 50), 0.25),
        (Cursor(0, 170), 0.5),
        (Cursor(1, 7), 0.5),
        (Cursor(2, 0), 1.0),
    ],
)
def test_the_share_before_a_cursor_grows_with_it(cursor: Cursor, share: float) -> None:
    item = InputObject("a", 100, "e", 100)
    packed = InputObject("b.gz", 100, "e", None)
    shard = Shard(0, (item, packed), (Split(0, 0, 100), Split(1, 0, None)))
    assert share_before(shard, cursor) == share
