import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.runtime.batch import padded_tokens, plan_batches

LENGTHS = st.lists(st.integers(0, 300), max_size=80)


@given(LENGTHS, st.integers(1, 2000) | st.none(), st.integers(1, 20), st.data())
def test_every_member_is_in_exactly_one_batch_that_fits(
    lengths: list[int], tokens: int | None, records: int, data: st.DataObject
) -> None:
    members = [m for m in range(len(lengths)) if data.draw(st.booleans())]
    batches = plan_batches(lengths, members, tokens=tokens, records=records)
    assert sorted(member for batch in batches for member in batch) == members
    for batch in batches:
        assert 1 <= len(batch) <= records
        if tokens is not None and len(batch) > 1:
            assert padded_tokens(lengths, batch) <= tokens


@given(LENGTHS, st.integers(1, 2000), st.integers(1, 20), st.randoms())
def test_the_order_of_the_members_does_not_matter_when_tokens_decide(
    lengths: list[int], tokens: int, records: int, random: Random
) -> None:
    members = list(range(len(lengths)))
    shuffled = random.sample(members, len(members))
    assert plan_batches(lengths, members, tokens=tokens, records=records) == plan_batches(
        lengths, shuffled, tokens=tokens, records=records
    )


@given(LENGTHS, st.integers(1, 2000), st.integers(1, 20))
def test_batches_go_from_long_to_short(lengths: list[int], tokens: int, records: int) -> None:
    batches = plan_batches(lengths, range(len(lengths)), tokens=tokens, records=records)
    flat = [lengths[member] for batch in batches for member in batch]
    assert flat == sorted(lengths, reverse=True)


@given(LENGTHS, st.integers(1, 2000), st.integers(1, 20))
def test_no_batch_closes_while_the_next_record_would_fit(
    lengths: list[int], tokens: int, records: int
) -> None:
    batches = plan_batches(lengths, range(len(lengths)), tokens=tokens, records=records)
    for batch, following in itertools.pairwise(batches):
        grown = (*batch, following[0])
        assert len(grown) > records or padded_tokens(lengths, grown) > tokens


def test_without_a_budget_of_tokens_the_order_stays() -> None:
    assert plan_batches([9, 1, 5, 2], [0, 1, 2, 3], tokens=None, records=3) == [(0, 1, 2), (3,)]


def test_equal_lengths_go_by_index() -> None:
    assert plan_batches([4] * 5, range(5), tokens=8, records=9) == [(0, 1), (2, 3), (4,)]


def test_a_record_over_the_budget_goes_alone() -> None:
    assert plan_batches([3, 50, 3], range(3), tokens=10, records=9) == [(1,), (0, 2)]


def test_nothing_makes_no_batch() -> None:
    assert plan_batches([], [], tokens=10, records=9) == []
    assert plan_batches([5], [], tokens=None, records=9) == []


@pytest.mark.parametrize(("batch", "padded"), [((0, 1, 2), 15), ((2,), 1), ((), 0)])
def test_padding_counts_all_records_as_long_as_the_longest(
    batch: tuple[int, ...], padded: int
) -> None:
    assert padded_tokens([5, 2, 1], batch) == padded
