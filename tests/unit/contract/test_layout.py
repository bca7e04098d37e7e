import pytest

from gristmill.contract import layout


def test_what_is_written_is_found_again() -> None:
    assert layout.shard_of_manifest(layout.shard_manifest(12)) == 12
    assert layout.part_of_manifest(layout.part_manifest(3, 1_234_567)) == (3, 1_234_567)
    assert layout.number_of_fill(layout.fill(4)) == 4
    assert layout.page_of_fill(layout.fill_page(4, 1_234_567)) == (4, 1_234_567)
    assert layout.read_claim(layout.claim(3, 7, 12)) == layout.ClaimKey(3, 7, 12, "claim")
    assert layout.read_claim(layout.claim(3, 0, 1, "done")) == layout.ClaimKey(3, 0, 1, "done")
    assert layout.read_claim(layout.claim_ticket(3, 7)) == layout.ClaimKey(3, 7, 0, "ticket")
    assert layout.is_result(layout.result(7, "results", "parquet"))
    assert layout.is_result(layout.result(7, "errors", "jsonl"))


@pytest.mark.parametrize(
    "key",
    [
        layout.RUN,
        layout.PLAN,
        layout.MANIFEST,
        layout.plan_page(0),
        layout.attempt("a"),
        layout.dead_letter(0),
        layout.part_data(0, 0, "attempt", "0" * 64, "results", "jsonl"),
        "shards/x/shard.json",
        "other/shards/000000/shard.json",
    ],
)
def test_other_keys_are_no_manifests(key: str) -> None:
    assert layout.shard_of_manifest(key) is None
    assert layout.part_of_manifest(key) is None
    assert layout.number_of_fill(key) is None
    assert layout.page_of_fill(key) is None
    assert layout.read_claim(key) is None
    assert not layout.is_result(key)


def test_keys_sort_as_their_shards_and_parts_do() -> None:
    results = [layout.result(n, "results", "jsonl") for n in (0, 9, 10, 99_999, 100_000)]
    parts = [layout.part_manifest(1, n) for n in (0, 9, 10, 99_999, 100_000)]
    assert results == sorted(results)
    assert parts == sorted(parts)


def test_data_of_two_attempts_has_two_keys() -> None:
    one, two = (
        layout.part_data(0, 0, attempt, "0" * 64, "results", "jsonl") for attempt in ("a", "b")
    )
    assert one != two


def test_a_shard_lies_under_its_prefix_alone() -> None:
    assert layout.shard_manifest(1).startswith(layout.shard_prefix(1))
    assert layout.part_manifest(1, 0).startswith(layout.parts_prefix(1))
    assert layout.claim(1, 0, 1).startswith(layout.claims_prefix(1, 0))
    assert layout.claims_prefix(1, 0).startswith(layout.CLAIMS)
    assert not layout.shard_manifest(10).startswith(layout.shard_prefix(1))


def test_what_a_manifest_names_is_not_written_over_by_the_same_attempt() -> None:
    one, two = (layout.part_data(0, 0, "a", digest * 64, "results", "jsonl") for digest in "01")
    assert one != two


def test_of_two_generations_the_later_one_sorts_last() -> None:
    parts = [layout.part_manifest(1, 2, generation) for generation in (0, 1, 2, 11)]
    shards = [layout.shard_manifest(1, generation) for generation in (0, 1, 2, 11)]
    retries = [layout.retry_manifest(generation) for generation in (1, 2, 11)]
    assert sorted(parts) == parts
    assert sorted(shards) == shards
    assert sorted(retries) == retries
    assert {layout.part_of_manifest(key) for key in parts} == {(1, 2)}
    assert {layout.shard_of_manifest(key) for key in shards} == {1}


def test_a_partial_is_known_by_its_part() -> None:
    assert layout.part_of_partial(layout.partial(3, 17, "a-b")) == 17
    assert layout.part_of_partial(layout.part_manifest(3, 17)) is None
