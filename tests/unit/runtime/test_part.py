import pytest

from gristmill.contract.record import Completed, Record, Rejected, RejectionClass, Stage
from gristmill.contract.shard import Cursor
from gristmill.engines.protocol import EngineProfile, Prepared
from gristmill.runtime.part import PlannedPart, parts_ahead
from gristmill.runtime.read import ReadPart
from tests.doubles.engines import PROFILE

UNREAD = Rejected(RejectionClass.UNPARSABLE, Stage.READ, "bad")
LONG = Rejected(RejectionClass.TOO_LONG, Stage.PREPARE, "long")
PADDED = EngineProfile(
    columns=PROFILE.columns, slots=1, batch_tokens=10, batch_records=8, batch_stable=True
)


def part(profile: EngineProfile = PADDED) -> PlannedPart:
    records = tuple(
        Record(i, f"a@{i}", i + 1, f"a@{i}", ("t",), b"", fault=UNREAD if i == 1 else None)
        for i in range(5)
    )
    read = ReadPart(0, 0, Cursor(0, 0), Cursor(1, 0), True, records)
    return PlannedPart(read, Prepared([3, 0, 5, 0, 4], {3: LONG}), profile)


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
    assert not half.done.is_set()
    with pytest.raises(AssertionError, match="before it was done"):
        _ = half.outcomes
    assert answered(part()).done.is_set()


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
