import sys
from pathlib import Path
from typing import Any

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.contract.model import HubModel, find_model, model_revision
from gristmill.contract.task import Task, TorchEngine

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _engine(model: str | Path, revision: str | None = None) -> TorchEngine:
    return TorchEngine(kind="torch", model=str(model), revision=revision)


def _revision(model: Path) -> str:
    return model_revision(Task(kind="embed", engine=_engine(model)))


def _save(folder: Path, files: dict[str, str] | None = None) -> Path:
    for name, text in (files or {"config.json": "{}", "inner/weights": "0101"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose import fails the test."""
    root = tmp_path / "site"
    _save(root / "grain" / "nested" / "model")
    _save(root / "grain" / "model")
    for init in (root / "grain" / "__init__.py", root / "grain" / "nested" / "__init__.py"):
        init.write_text("raise AssertionError('imported')\n")
    (root / "husk.py").write_text("")
    monkeypatch.syspath_prepend(str(root))
    return root / "grain"


def test_a_folder_is_found(tmp_path: Path) -> None:
    folder = _save(tmp_path / "model")
    assert find_model(_engine(folder)) == folder


@pytest.mark.parametrize(
    ("reference", "inner"),
    [
        ("package:grain/model", "model"),
        ("package:grain/nested/model", "nested/model"),
        ("package:grain.nested/model", "nested/model"),
    ],
)
def test_a_folder_in_a_package_is_found_without_importing_it(
    reference: str, inner: str, package: Path
) -> None:
    assert find_model(_engine(reference)) == package / inner
    assert "grain" not in sys.modules


def test_a_pinned_hub_model_is_named_by_its_commit() -> None:
    engine = _engine("owner/name", COMMIT)
    assert find_model(engine) == HubModel("owner/name", COMMIT)
    assert model_revision(Task(kind="embed", engine=engine)) == COMMIT


@pytest.mark.parametrize("revision", [None, "main", "v1.0", COMMIT[:12]])
def test_a_hub_model_that_may_move_is_refused(revision: str | None) -> None:
    with pytest.raises(ConfigError, match=r"task\.engine\.revision: .*40 hex digits"):
        find_model(_engine("owner/name", revision))


def test_a_folder_written_like_a_hub_id_is_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _save(tmp_path / "models" / "mini")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"write \./models/mini"):
        find_model(_engine("models/mini"))


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("package:no_such_package/model", "no Python package 'no_such_package'"),
        ("package:/model", "no Python package ''"),
        ("package:grain/flour", "no folder 'flour'"),
        ("package:husk/model", "no folder 'model'"),
        ("package:grain/nested", "neither modules.json nor config.json"),
        ("./no-such-folder", "no folder no-such-folder"),
        ("s3://bucket/model", "must be a folder"),
    ],
)
def test_a_model_that_is_not_there_is_refused(reference: str, said: str, package: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_model(_engine(reference))
    assert said in str(caught.value)
    assert reference in str(caught.value)


def test_the_revision_names_the_files_wherever_they_lie(tmp_path: Path) -> None:
    assert _revision(_save(tmp_path / "one")) == _revision(_save(tmp_path / "two"))


@pytest.mark.parametrize(
    "files",
    [
        {"config.json": "{}", "inner/weights": "0100"},
        {"config.json": "{}", "inner/renamed": "0101"},
        {"config.json": "{}", "inner/weights": "0101", "more": ""},
        {"config.json": "{}"},
    ],
)
def test_any_change_of_a_file_is_another_revision(files: dict[str, str], tmp_path: Path) -> None:
    assert _revision(_save(tmp_path / "one")) != _revision(_save(tmp_path / "two", files))


def test_compiled_python_in_the_folder_does_not_count(tmp_path: Path) -> None:
    before = _revision(_save(tmp_path / "one"))
    _save(tmp_path / "one", {"__pycache__/code.pyc": "1"})
    assert _revision(tmp_path / "one") == before


def test_an_engine_without_a_model_has_its_name_for_a_revision() -> None:
    task: dict[str, Any] = {"kind": "transform", "engine": {"kind": "echo"}}
    assert model_revision(Task.model_validate(task)) == "echo"
