"""What every ObjectStore promises."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from gristmill.contract.errors import ObjectChangedError, ObjectMissingError, StorageError
from gristmill.store.open import open_store
from gristmill.store.protocol import ObjectStore
from tests.doubles.memory_store import MemoryStore

ODD_KEYS = [
    "a b",
    " lead and trail ",
    "ünï/çødé",
    "e\u0301",
    "😀",
    "a#1",
    "b#x/c#2/d",
    "q?r=s&t",
    "p%2Fq",
    "100%",
    "con%20x",
    "plus+",
    "~t",
    "[x]",
    "st*r",
    "back\\slash",
    "a|b",
    "<>:\"'`$^{}@!,;=()",
    ".hidden",
    "_SUCCESS",
    "dots..",
]
MISSING: list[Callable[[ObjectStore], object]] = [
    lambda store: store.get("absent"),
    lambda store: store.head("absent"),
    lambda store: store.get_range("absent", 0, 4),
    lambda store: store.get_range("absent", 0, 4, etag="e"),
    lambda store: store.get("there/below"),
]


@pytest.fixture(params=["local", "memory", "s3", "double"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    match request.param:
        case "local":
            return open_store(str(tmp_path / "root of it"))
        case "memory":
            return open_store(f"memory://{uuid4().hex}/some/prefix")
        case "s3":
            bucket = request.getfixturevalue("s3_bucket")
            return open_store(f"s3://{bucket}/some prefix/é#1+%2F")
    return MemoryStore()


def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    return [found.key for found in store.list(prefix)]


def test_what_was_put_is_got(store: ObjectStore) -> None:
    store.put("a/b", b"\0body\n")
    assert store.get("a/b") == b"\0body\n"


def test_an_empty_object_is_an_object(store: ObjectStore) -> None:
    store.put("empty", b"")
    assert store.get("empty") == b""
    assert store.head("empty").size == 0


def test_put_writes_over(store: ObjectStore) -> None:
    store.put("a", b"old and long")
    store.put("a", b"new")
    assert store.get("a") == b"new"
    assert keys(store) == ["a"]


def test_put_new_writes_once(store: ObjectStore) -> None:
    assert store.put_new("a/b", b"first")
    assert not store.put_new("a/b", b"second")
    assert store.get("a/b") == b"first"
    assert keys(store) == ["a/b"]


def test_of_many_put_new_at_once_one_wins(store: ObjectStore) -> None:
    bodies = [str(number).encode() * 1000 for number in range(16)]
    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(lambda body: store.put_new("elected", body), bodies))
    assert won.count(True) == 1
    assert store.get("elected") == bodies[won.index(True)]


@pytest.mark.parametrize("ask", MISSING)
def test_a_missing_object_is_said_to_be_missing(
    store: ObjectStore, ask: Callable[[ObjectStore], object]
) -> None:
    store.put("there", b"x")
    with pytest.raises(ObjectMissingError, match="no such"):
        ask(store)


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, 4, b"0123"),
        (3, 5, b"34"),
        (8, 99, b"89"),
        (0, 99, b"0123456789"),
        (10, 12, b""),
        (50, 60, b""),
        (4, 4, b""),
    ],
)
def test_a_range_ends_at_the_objects_end(
    store: ObjectStore, start: int, stop: int, expected: bytes
) -> None:
    store.put("digits", b"0123456789")
    assert store.get_range("digits", start, stop) == expected
    assert store.get_range("digits", start, stop, etag=store.head("digits").etag) == expected


def test_a_range_of_a_changed_object_is_refused(store: ObjectStore) -> None:
    store.put("a", b"old")
    etag = store.head("a").etag
    store.put("a", b"new")
    with pytest.raises(ObjectChangedError, match="changed"):
        store.get_range("a", 0, 3, etag=etag)


def test_head_and_list_say_the_same(store: ObjectStore) -> None:
    store.put("a/b", b"12345")
    assert list(store.list()) == [store.head("a/b")]
    assert store.head("a/b").size == 5


def test_list_is_in_key_order(store: ObjectStore) -> None:
    unordered = ["b", "a/b/c", "a0", "a-b", "é", "a/b.c", "a.b", "B", "a/b-c", "a/c"]
    for key in unordered:
        store.put(key, b"x")
    assert keys(store) == sorted(unordered)


def test_list_shows_what_lies_below_the_prefix(store: ObjectStore) -> None:
    for key in ("a/1", "a/b/2", "ab/3", "a.4", "5"):
        store.put(key, b"x")
    assert keys(store, "a/") == ["a/1", "a/b/2"]
    assert keys(store, "a/b/") == ["a/b/2"]


def test_nothing_lies_below_an_absent_prefix(store: ObjectStore) -> None:
    assert keys(store) == []
    store.put("a", b"x")
    assert keys(store, "b/") == []
    assert keys(store, "a/") == []


@pytest.mark.parametrize("key", ODD_KEYS)
def test_odd_keys_come_back_as_they_went(store: ObjectStore, key: str) -> None:
    assert store.put_new(key, b"odd")
    assert not store.put_new(key, b"again")
    assert store.get(key) == b"odd"
    assert store.get_range(key, 1, 3) == b"dd"
    assert store.head(key).size == 3
    assert keys(store) == [key]


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b"])
def test_a_key_that_names_no_object_is_refused(store: ObjectStore, key: str) -> None:
    with pytest.raises(StorageError, match="can't be an object's key"):
        store.put(key, b"x")
    with pytest.raises(StorageError, match="can't be an object's key"):
        store.get(key)


@pytest.mark.parametrize("prefix", ["a", "/", "a//", "../"])
def test_a_prefix_that_names_no_folder_is_refused(store: ObjectStore, prefix: str) -> None:
    with pytest.raises(StorageError, match="can't be"):
        keys(store, prefix)


@pytest.mark.parametrize("size", [0, 1, 9 * 2**20], ids=["empty", "small", "several pieces"])
def test_a_file_goes_up_whole(store: ObjectStore, tmp_path: Path, size: int) -> None:
    body = bytes(range(256)) * (size // 256) + b"z" * (size % 256)
    (tmp_path / "file").write_bytes(body)
    store.put_file("a/b", tmp_path / "file")
    assert store.get("a/b") == body
    assert store.head("a/b").size == size


def test_a_file_is_written_over_an_object(store: ObjectStore, tmp_path: Path) -> None:
    store.put("a", b"old and long")
    (tmp_path / "file").write_bytes(b"new")
    store.put_file("a", tmp_path / "file")
    assert store.get("a") == b"new"


def test_the_uri_has_no_slash_at_its_end(store: ObjectStore) -> None:
    assert store.uri
    assert not store.uri.endswith("/")
