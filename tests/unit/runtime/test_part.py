from collections.abc import Mapping

import pytest

from gristmill.contract.record import Completed, Outcome, Record, Rejected, RejectionClass, Stage
from gristmill.contract.shard import Cursor
from gristmill.engines.protocol import EngineProfile, Prepared
from gristmill.runtime.part import NOTHING, PlannedPart, parts_ahead
from gristmill.runtime.read import ReadPart
from tests.doubles.engines import PROFILE

UNREAD = Rejected(RejectionClass.UNPARSABLE, Stage.READ, "bad")
LONG = Rejected(RejectionClass.TOO_LONG, Stage.PREPARE, "long")
PADDED = EngineProfile(
    columns=PROFILE.columns, slots=1, batch_tokens=10, batch_records=8, batch_stable=True
)


def part(
    profile: EngineProfile = PADDED,
    kept: Mapping[int, Outcome] = NOTHING,
    seconds: float = 0.0,
) -> PlannedPart:
    records = tuple(
        Record(i, f"a@{i}", i + 1, f"a@{i}", ("t",), b"", fault=UNREAD if i == 1 else None)
        for i in range(5)
    )
    read = ReadPart(0, 0, Cursor(0, 0), Cursor(1, 0), True, records)
    return PlannedPart(read, Prepared([3, 0, 5, 0, 4], {3: LONG}), profile, kept, seconds)


def answered(part: PlannedPart) -> PlannedPart:
    for batch in part.batches:
        part.settle(batch, [Completed((i,)) for i in batch], 1.5)
    return part


def test_rejected_records_are_in_no_batch() -> None:
    assert sorted(i for batch in part().batches for i in batch) == [0, 2, 4]


def test_outcomes_are_in_the_order_of_the_records() -> None:
    assert answered(part()).outcomes == [
        Completed((0,)), UNREAD, Completed((2,)), LONG, Completed((4,)),
    ]  # fmt: skip


def test_it_is_done_with_its_last_batch_and_not_before() -> None:
    half = part()
    assert len(half.batches) == 2
    half.settle(half.batches[0], [Completed((i,)) for i in half.batches[0]], 1)
    assert not half.ended.is_set()
    with pytest.raises(AssertionError, match="before it was complete"):
        _ = half.outcomes
    assert answered(part()).ended.is_set()


def test_a_part_that_was_cut_short_keeps_what_was_inferred_and_says_what_was_lost() -> None:
    half = part()
    first, second = half.batches
    half.begin(first)
    half.settle(first, [Completed((i,)) for i in first], 1.5)
    half.begin(second)
    half.cut()
    assert half.ended.is_set()
    assert not half.complete
    assert half.inferred == {i: Completed((i,)) for i in first}
    assert (half.fresh, half.lost) == (len(first), len(second))


def test_only_batches_that_were_not_inferred_before_are_run_and_the_part_is_the_same() -> None:
    whole = answered(part())
    first, second = part().batches
    rest = part(kept={i: Completed((i,)) for i in first}, seconds=1.5)
    assert rest.batches == [second]
    answered(rest)
    assert rest.outcomes == whole.outcomes
    assert rest.counts() == whole.counts()
    assert rest.engine_seconds == whole.engine_seconds
    assert rest.fresh == len(second)


def test_a_batch_of_which_only_some_was_inferred_is_run_again_whole() -> None:
    first, second = part().batches
    rest = part(kept={i: Completed((i,)) for i in (*first[:-1], *second)})
    assert rest.batches == [first]


def test_a_part_of_which_all_was_inferred_is_complete_at_once() -> None:
    rest = part(kept={i: Completed((i,)) for batch in part().batches for i in batch})
    assert rest.complete
    assert rest.ended.is_set()


def test_counts_are_of_outcomes_and_of_tokens_with_and_without_padding() -> None:
    counts = answered(part()).counts()
    assert (counts.records, counts.ok, counts.rejected_total) == (5, 3, 2)
    assert counts.rejected == {RejectionClass.TOO_LONG: 1, RejectionClass.UNPARSABLE: 1}
    assert (counts.tokens, counts.padded_tokens, counts.batches) == (12, 13, 2)


def test_an_engine_without_padding_computes_what_it_is_given() -> None:
    assert part(PROFILE).counts().padded_tokens == 12


@pytest.mark.parametrize(
    ("slots", "records", "ahead"), [(1, 2048, 1), (64, 2048, 1), (64, 8, 16), (256, 100, 6)]
)
def test_enough_parts_go_ahead_to_fill_the_slots_twice(
    slots: int, records: int, ahead: int
) -> None:
    assert parts_ahead(slots, records) == ahead
