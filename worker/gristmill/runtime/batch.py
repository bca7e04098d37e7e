"""Batches of one part: a pure function of its records' lengths, never of timing."""

from collections.abc import Sequence


def plan_batches(
    lengths: Sequence[int], members: Sequence[int], *, tokens: int | None, records: int
) -> list[tuple[int, ...]]:
    """Every member in exactly one batch of at most `records`.

    With a budget of `tokens`, padding included, records of like length go together, the longest
    first; one that is over the budget goes alone. Without, the members stay in their order.
    """
    if tokens is None:
        return [tuple(members[at : at + records]) for at in range(0, len(members), records)]
    batches: list[tuple[int, ...]] = []
    batch: list[int] = []
    for member in sorted(members, key=lambda m: (-lengths[m], m)):
        full = len(batch) == records
        if batch and (full or (len(batch) + 1) * lengths[batch[0]] > tokens):
            batches.append(tuple(batch))
            batch = []
        batch.append(member)
    if batch:
        batches.append(tuple(batch))
    return batches


def padded_tokens(lengths: Sequence[int], batch: Sequence[int]) -> int:
    """Tokens that a batch costs: all its records as long as its longest."""
    return len(batch) * max((lengths[member] for member in batch), default=0)
