from pathlib import Path

import pytest

from gristmill.client.fork import fork, shipped
from gristmill.contract.errors import UsageError
from gristmill.contract.load import load_blueprint


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_fork_of_every_shipped_blueprint_is_valid_and_whole(name: str, tmp_path: Path) -> None:
    fork(name, tmp_path / "mine")
    assert load_blueprint(tmp_path / "mine").name == "mine"
    for path in shipped()[name].iterdir():
        if path.is_file() and path.name != "blueprint.yaml":
            assert (tmp_path / "mine" / path.name).read_bytes() == path.read_bytes()


def test_a_fork_differs_in_its_name_and_in_the_buckets_that_nobody_has_set(tmp_path: Path) -> None:
    fork("embed-corpus", tmp_path / "mine")
    before = (shipped()["embed-corpus"] / "blueprint.yaml").read_text().splitlines()
    after = (tmp_path / "mine" / "blueprint.yaml").read_text().splitlines()
    changed = [
        new.partition("#")[0].strip() for old, new in zip(before, after, strict=True) if old != new
    ]
    assert changed == [
        "name: mine",
        "uri: s3://your-mine/in/",
        "uri: s3://your-mine/out/{run}",
    ]


def test_a_folder_whose_name_no_blueprint_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"My_Corpus: .*'My_Corpus', which must be lower-case"):
        fork("selftest", tmp_path / "My_Corpus")
    assert not (tmp_path / "My_Corpus").exists()


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--from selftset: .* did you mean selftest"):
        fork("selftset", tmp_path / "mine")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is there and not empty; name a new folder"):
        fork("selftest", tmp_path)
    with pytest.raises(UsageError, match="is there and not empty"):
        fork("selftest", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match=r"file/mine: can't be written"):
        fork("selftest", tmp_path / "file" / "mine")
