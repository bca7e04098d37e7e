"""The composition root: files in, a refusal or stacks out."""

import subprocess
import sys
from pathlib import Path

import pytest

from gristmill.contract.load import deployable_blueprints
from gristmill.contract.process import ExitCode
from infra.main import main


def test_a_missing_platform_is_told_with_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "platform.yaml"
    assert main({"PLATFORM": str(missing)}) == ExitCode.CONFIG
    assert f"{missing}: no such file; name a platform.yaml" in capsys.readouterr().err


def test_a_wrong_choice_is_refused_before_any_construct_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blueprint = Path("blueprints/embed-corpus/blueprint.yaml").read_text()
    file = tmp_path / "blueprint.yaml"
    file.write_text(blueprint.replace("[L4, L40S]", "[MI210]"))
    given = {"PLATFORM": "platform.example.yaml", "BLUEPRINTS": str(file)}
    assert main(given) == ExitCode.CONFIG
    assert "capacity.gpus.0: got 'MI210'" in capsys.readouterr().err


def test_blueprints_without_gpus_stay_on_laptops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path("blueprints/embed-corpus/blueprint.yaml").read_text()
    for name, text in (("cloud", source), ("laptop", source.replace("[L4, L40S]", "[]"))):
        folder = tmp_path / "blueprints" / name
        folder.mkdir(parents=True)
        (folder / "blueprint.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert [path for path, _ in deployable_blueprints(None)] == ["blueprints/cloud/blueprint.yaml"]
    named = deployable_blueprints("blueprints/cloud blueprints/laptop/blueprint.yaml")
    assert [path for path, _ in named] == [
        *("blueprints/cloud/blueprint.yaml", "blueprints/laptop/blueprint.yaml"),
    ]


def test_importing_infra_loads_no_engine_and_no_construct_library() -> None:
    code = (
        "import sys, infra.main; "
        "print([m for m in ('torch', 'transformers', 'cdktn', 'jsii') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
