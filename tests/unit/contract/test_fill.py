import pytest

from gristmill.contract.fill import Fill


@pytest.mark.parametrize(
    ("shards", "ranges"),
    [
        ([], ()),
        ([5], ((5, 6),)),
        (range(100_000), ((0, 100_000),)),
        ([9, 0, 1, 2, 7, 8], ((0, 3), (7, 10))),
    ],
)
def test_neighbours_are_one_range(shards: list[int], ranges: tuple[tuple[int, int], ...]) -> None:
    assert Fill.of(shards, 10, 0.0).ranges == ranges


def test_pages_hold_every_shard_once_in_order() -> None:
    shards = [*range(7), *range(20, 31)]
    pages = Fill.of(reversed(shards), 5, 0.0).pages()
    assert [shard for page in pages for shard in page] == shards
    assert [len(page) for page in pages] == [5, 5, 5, 3]
