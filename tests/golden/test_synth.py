"""What is deployed, word for word. `make golden` writes it anew; read the diff."""

import json
import os
from pathlib import Path

import pytest

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.load import deployable_blueprints, load_platform
from infra.idle import idle_report
from infra.main import synthesize
from infra.team import resolve

GOLDEN = Path("tests/golden/synth")
BLUEPRINTS = deployable_blueprints(None)


def test_a_shipped_blueprint_names_gpus() -> None:
    assert "embed-corpus" in [blueprint.name for _, blueprint in BLUEPRINTS]


@pytest.mark.parametrize(("path", "blueprint"), BLUEPRINTS, ids=[b.name for _, b in BLUEPRINTS])
def test_a_shipped_blueprint_is_deployed_as_reviewed(
    path: str, blueprint: Blueprint, tmp_path: Path
) -> None:
    platform = load_platform(Path("platform.example.yaml"))
    teams = resolve(platform, [(path, blueprint)])
    synthesize(platform, teams, tmp_path)
    written = {
        f"{folder.name}.json": _stable((folder / "cdk.tf.json").read_text())
        for folder in (tmp_path / "stacks").iterdir()
    } | {"idle.txt": idle_report(platform, teams) + "\n"}
    golden = GOLDEN / blueprint.name
    if os.environ.get("GOLDEN_UPDATE"):
        golden.mkdir(parents=True, exist_ok=True)
        for file, text in written.items():
            (golden / file).write_text(text)
    assert sorted(p.name for p in golden.iterdir()) == sorted(written)
    for file, text in written.items():
        assert (golden / file).read_text() == text, f"{file} changed; make golden, read the diff"


def _stable(text: str) -> str:
    """Without what a new version of the tool changes though the stack stays."""
    tree = json.loads(text)
    tree["//"]["metadata"].pop("version", None)
    return json.dumps(tree, indent=2, sort_keys=True) + "\n"
