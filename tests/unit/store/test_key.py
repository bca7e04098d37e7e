import pytest

from gristmill.contract.errors import StorageError
from gristmill.store.key import checked, checked_prefix


@pytest.mark.parametrize("key", ["a", "a/b", " ", "a..b/...", "%2F", "~"])
def test_a_key_is_taken_as_it_is(key: str) -> None:
    assert checked(key) == key
    assert checked_prefix(f"{key}/") == f"{key}/"


@pytest.mark.parametrize("key", ["", "/", "a//b", "/a", "a/", ".", "a/..", "../a"])
def test_a_key_that_names_no_object_is_refused(key: str) -> None:
    with pytest.raises(StorageError, match="rename the object"):
        checked(key)


@pytest.mark.parametrize("prefix", ["a", "a/b", "/", "a//", "../", "./a/"])
def test_a_prefix_that_names_no_folder_is_refused(prefix: str) -> None:
    with pytest.raises(StorageError):
        checked_prefix(prefix)


def test_the_empty_prefix_is_everything() -> None:
    assert checked_prefix("") == ""
