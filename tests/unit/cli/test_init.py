"""`gristmill init`, as a person types it."""

import sys
from pathlib import Path

import pytest

from gristmill.cli.main import main
from gristmill.contract.load import load_blueprint
from gristmill.contract.process import ExitCode

WORKFLOWS = [".github/workflows/gristmill-my-corpus.yml", ".gitlab/gristmill-my-corpus.yml"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(monkeypatch: pytest.MonkeyPatch, folder: str) -> int:
    command = ["gristmill", "init", folder, "--from", "embed-corpus"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ending:
        main()
    return int(ending.value.code or 0)


def test_a_blueprint_of_a_project_gets_a_workflow_and_says_what_to_do(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, "blueprints/my-corpus") == 0
    assert load_blueprint(project / "blueprints" / "my-corpus").name == "my-corpus"
    assert all((project / path).is_file() for path in WORKFLOWS)
    said = capsys.readouterr().err
    assert all(path in said for path in WORKFLOWS)
    assert "add to .gitlab-ci.yml: include" in said
    assert "platform.yaml: is not there yet" in said


def test_a_blueprint_elsewhere_gets_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(monkeypatch, "my-corpus") == 0
    assert (project / "my-corpus" / "blueprint.yaml").is_file()
    assert not (project / ".github").exists()
    assert not (project / ".gitlab").exists()


def test_where_a_workflow_is_there_already_nothing_at_all_is_written(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".gitlab").mkdir()
    (project / WORKFLOWS[1]).write_text("mine")
    assert typed(monkeypatch, "blueprints/my-corpus") == ExitCode.USAGE
    assert f"{WORKFLOWS[1]}: is there already; remove it" in capsys.readouterr().err
    assert (project / WORKFLOWS[1]).read_text() == "mine"
    assert not (project / "blueprints").exists()
    assert not (project / ".github").exists()
