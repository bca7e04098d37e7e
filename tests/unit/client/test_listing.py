import pytest

from gristmill.client.listing import (
    EMPTY,
    HIDDEN,
    OTHER,
    changes,
    list_input,
    would_read,
)
from gristmill.contract.dataset import Input
from gristmill.contract.errors import BadInputError
from gristmill.contract.shard import InputObject
from tests.doubles.memory_store import MemoryStore
from tests.doubles.synthetic_listing import SyntheticListing


def source(uri: str = "memory://in/", kind: str = "jsonl") -> Input:
    return Input.model_validate({"uri": uri, "format": {"kind": kind}})


def store(*keys: str, empty: tuple[str, ...] = ()) -> MemoryStore:
    found = MemoryStore("memory://in")
    for key in keys:
        found.put(key, b"x")
    for key in empty:
        found.put(key, b"")
    return found


def keys(found: MemoryStore, wanted: Input) -> list[str]:
    return [item.key for item in list_input(found, wanted).objects]


def test_hidden_and_marker_files_are_left_out_and_said() -> None:
    found = store(
        "a.jsonl", "_SUCCESS", ".hidden.jsonl", "_temporary/b.jsonl", "x/.crc/c.jsonl", "x/d.jsonl"
    )
    listing = list_input(found, source())
    assert [item.key for item in listing.objects] == ["a.jsonl", "x/d.jsonl"]
    assert listing.skipped == {HIDDEN: 4}


def test_empty_objects_and_other_suffixes_are_left_out_and_said() -> None:
    found = store("a.jsonl", "notes.txt", "b.csv", empty=("c.jsonl", "d"))
    assert list_input(found, source()).skipped == {EMPTY: 2, OTHER: 2}


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        ("jsonl", ["a.json", "a.jsonl", "a.jsonl.gz", "a.ndjson.zst", "A.JSONL"]),
        ("csv", ["a.csv", "a.csv.gz", "a.tsv"]),
        ("parquet", ["a.parquet", "a.pq"]),
        ("files", ["A.JSONL", "a", "a.csv", "a.csv.gz", "a.json", "a.jsonl", "a.jsonl.gz",
                   "a.ndjson.zst", "a.parquet", "a.pq", "a.tsv", "a.txt"]),
    ],
)  # fmt: skip
def test_a_folder_gives_the_files_of_its_format(kind: str, taken: list[str]) -> None:
    found = store(
        "a.json", "a.jsonl", "a.jsonl.gz", "a.ndjson.zst", "A.JSONL", "a.csv", "a.csv.gz", "a.tsv",
        "a.parquet", "a.pq", "a.txt", "a",
    )  # fmt: skip
    assert keys(found, source(kind=kind)) == sorted(taken)


def test_a_glob_takes_any_suffix() -> None:
    assert keys(store("a.log", "b.log", "c.txt", ".d.log"), source("memory://in/*.log")) == [
        "a.log",
        "b.log",
    ]


@pytest.mark.parametrize("name", ["_odd", ".hidden", "a.log", "x[1]*?.jsonl", "a b#%2F+é.dat"])
def test_an_object_named_alone_is_taken_whatever_its_name(name: str) -> None:
    assert keys(store(name), source(f"memory://in/{name}")) == [name]


def test_a_name_may_be_an_object_or_a_folder() -> None:
    assert keys(store("in/a.jsonl", "in2/b.jsonl"), source("memory://in/in")) == ["in/a.jsonl"]


@pytest.mark.parametrize(
    ("found", "uri", "said"),
    [
        (store("a.jsonl"), "memory://in/*.csv", "matches no object; check the path or the glob"),
        (store(), "memory://in/", "matches no object"),
        (store("a.txt"), "memory://in/", "holds nothing to read; left out: 1 other suffix"),
        (
            store("a.txt"),
            "memory://in/",
            "takes .jsonl, .ndjson, .json, plain or .gz/.zst; name other files by a glob",
        ),
        (store("_SUCCESS"), "memory://in/", "holds nothing to read; left out: 1 hidden or marker"),
        (
            store(empty=("a.jsonl",)),
            "memory://in/a.jsonl",
            "holds nothing to read; left out: 1 empty (zero bytes)",
        ),
    ],
)
def test_nothing_to_read_is_refused_with_what_was_there(
    found: MemoryStore, uri: str, said: str
) -> None:
    with pytest.raises(BadInputError) as refused:
        list_input(found, source(uri))
    assert str(refused.value).startswith(f"{uri}: ")
    assert said in str(refused.value)


def test_the_digest_tells_a_changed_object_an_added_and_a_gone_one() -> None:
    def digest(found: MemoryStore) -> str:
        return list_input(found, source()).digest

    one = store("a.jsonl", "b.jsonl")
    first = digest(one)
    assert digest(one) == first
    one.put("a.jsonl", b"y")
    second = digest(one)
    one.put("c.jsonl", b"x")
    assert len({first, second, digest(one), digest(store("a.jsonl"))}) == 4


def test_changes_are_named_a_few_of_each_kind() -> None:
    def listed(*objects: tuple[str, int, str]) -> dict[str, InputObject]:
        return {key: InputObject(key, size, etag) for key, size, etag in objects}

    before = listed(("same", 1, "e"), ("grown", 1, "e"), ("touched", 1, "e"), ("gone", 1, "e"))
    after = listed(
        ("same", 1, "e"), ("grown", 2, "e"), ("touched", 1, "f"),
        *((f"new{n}", 1, "e") for n in range(5)),
    )  # fmt: skip
    assert changes(before, after) == [
        "2 input objects changed: grown, touched",
        "5 input objects added: new0, new1, new2 and 2 more",
        "1 input object gone: gone",
    ]
    assert changes(before, before) == []


def test_progress_is_told_while_listing() -> None:
    told: list[int] = []
    list_input(SyntheticListing(25_000, 1), source(), told.append)
    assert told == [10_000, 20_000]


@pytest.mark.parametrize(
    ("uri", "read", "unread"),
    [
        ("/data/in/", ["/data/in/x.jsonl"], ["/data/in-2/x.jsonl", "/data/in/.x/a.jsonl",
                                             "/data/in/x.parquet", "/other/x.jsonl"]),
        ("/data/*.jsonl", ["/data/results-000000.jsonl"], ["/data/out/results-000000.jsonl"]),
        ("/data/a.jsonl", ["/data/a.jsonl"], ["/data/b.jsonl"]),
        ("s3://b/in/", ["s3://b/in/x.json"], ["s3://b/x.json", "/in/x.json"]),
        ("/", ["/x.jsonl"], []),
    ],
)  # fmt: skip
def test_it_knows_what_a_later_listing_would_read(
    uri: str, read: list[str], unread: list[str]
) -> None:
    assert [u for u in read if not would_read(source(uri), u)] == []
    assert [u for u in unread if would_read(source(uri), u)] == []
