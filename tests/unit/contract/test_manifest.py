from hypothesis import given
from hypothesis import strategies as st

from gristmill.contract.manifest import Counts
from gristmill.contract.record import RejectionClass

COUNTS = st.builds(
    Counts,
    records=st.integers(0, 99),
    ok=st.integers(0, 99),
    rejected=st.dictionaries(st.sampled_from(RejectionClass), st.integers(1, 9)),
    tokens=st.integers(0, 99),
    padded_tokens=st.integers(0, 99),
    batches=st.integers(0, 9),
)


@given(st.lists(COUNTS, max_size=5), st.randoms())
def test_a_total_does_not_depend_on_the_order_or_the_grouping(
    parts: list[Counts], r: object
) -> None:
    whole = Counts.total(parts)
    half = len(parts) // 2
    assert Counts.total([Counts.total(parts[half:]), Counts.total(parts[:half])]) == whole
    assert whole.records == sum(part.records for part in parts)
    assert whole.rejected_total == sum(part.rejected_total for part in parts)
    assert list(whole.rejected) == sorted(whole.rejected)


def test_padding_is_the_share_of_tokens_that_nobody_asked_for() -> None:
    assert Counts(tokens=75, padded_tokens=100).padding_ratio == 0.25
    assert Counts().padding_ratio == 0.0
