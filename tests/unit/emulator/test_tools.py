"""A machine that lacks a tool says which, where the gate's last lines are read, and skips."""

import shutil
from pathlib import Path

import pytest

from tests.emulator.aws import localstack, terraform
from tests.emulator.aws.environment import MissingToolError
from tests.emulator.aws.tools import found_tools

GATE = Path(".ci/run")


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path: a machine that has `find` and `env`, and nothing of ours."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("find", "env"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(terraform, "SEARCHED", (str(tmp_path / "mirror"),))
    monkeypatch.setattr(localstack, "VENV", tmp_path / "venv")
    return folder


def command(folder: Path, name: str, script: str = "") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def provider(mirror: Path) -> None:
    binary = mirror / "host" / "hashicorp" / "aws" / "5.100.0" / "system"
    binary.mkdir(parents=True)
    (binary / "terraform-provider-aws_v5.100.0_x5").touch()


def said(report: Path, endpoint: str | None = None) -> str:
    with pytest.raises(pytest.skip.Exception) as skipped:
        found_tools(report, endpoint)
    text = report.read_text()
    assert str(skipped.value) in text
    return text


def test_without_terraform_the_gate_says_so(bin_folder: Path) -> None:
    report = bin_folder.parent / "build" / "emulator.txt"
    assert said(report) == "emulator: NOT RUN (no terraform)\n"


def test_without_the_provider_the_gate_says_so(bin_folder: Path) -> None:
    command(bin_folder, "terraform")
    (bin_folder.parent / "mirror").mkdir()
    report = bin_folder.parent / "build" / "emulator.txt"
    assert said(report) == (
        "emulator: NOT RUN (no AWS provider for terraform in a filesystem mirror)\n"
    )


def test_without_a_new_python_the_gate_says_so(bin_folder: Path) -> None:
    command(bin_folder, "terraform")
    provider(bin_folder.parent / "mirror")
    report = bin_folder.parent / "build" / "emulator.txt"
    assert said(report) == "emulator: NOT RUN (no Python of 3.13 or newer)\n"


def test_a_python_that_can_not_make_environments_is_none(bin_folder: Path) -> None:
    command(bin_folder, "python3.13", "exit 1")
    with pytest.raises(MissingToolError, match=r"no Python of 3\.13"):
        localstack.interpreter()


def test_a_python_that_pyenv_keeps_is_found(bin_folder: Path) -> None:
    command(bin_folder, "python3.13", 'test "$PYENV_VERSION" = 3.13.0')
    command(bin_folder, "pyenv", "echo 3.11.7; echo 3.13.0")
    assert localstack.interpreter() == ["env", "PYENV_VERSION=3.13.0", "python3.13"]


def test_with_an_emulator_that_runs_already_no_python_is_needed(bin_folder: Path) -> None:
    command(bin_folder, "terraform")
    provider(bin_folder.parent / "mirror")
    mirror = found_tools(bin_folder.parent / "emulator.txt", "http://127.0.0.1:4566")
    assert mirror == terraform.Mirror(bin_folder.parent / "mirror", "5.100.0")
    assert not (bin_folder.parent / "emulator.txt").exists()


def test_the_gate_ends_with_the_emulators_line() -> None:
    *_, tested, shown = GATE.read_text().splitlines()
    assert (tested, shown) == ("step make test-emulator", "cat build/emulator.txt")
