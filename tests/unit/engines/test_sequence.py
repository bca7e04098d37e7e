import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gristmill.engines.sequence import Sequence, cut, pad


def _sequence(*ids: int, segments: list[int] | None = None) -> Sequence:
    return Sequence(
        np.array(ids, dtype=np.int32),
        None if segments is None else np.array(segments, dtype=np.int32),
    )


def test_sequences_are_padded_to_the_longest_and_no_further() -> None:
    padded = pad([_sequence(5, 6, 7), _sequence(8, 9, segments=[0, 1])], 1, "right")
    assert padded.ids.tolist() == [[5, 6, 7], [8, 9, 1]]
    assert padded.mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert padded.segments.tolist() == [[0, 0, 0], [0, 1, 0]]


def test_padding_may_come_first() -> None:
    padded = pad([_sequence(5, 6, 7), _sequence(8, 9, segments=[0, 1])], 1, "left")
    assert padded.ids.tolist() == [[5, 6, 7], [1, 8, 9]]
    assert padded.mask.tolist() == [[1, 1, 1], [0, 1, 1]]
    assert padded.segments.tolist() == [[0, 0, 0], [0, 0, 1]]


def test_what_fits_one_pass_keeps_its_order() -> None:
    assert cut([1, 3, 2], 9) == [[0, 1, 2]]


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(1, 100))
def test_every_sequence_is_in_one_pass_that_fits(lengths: list[int], tokens: int) -> None:
    passes = cut(lengths, tokens)
    assert sorted(index for indices in passes for index in indices) == list(range(len(lengths)))
    for indices in passes:
        assert len(indices) == 1 or len(indices) * max(lengths[i] for i in indices) <= tokens
