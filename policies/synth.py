"""Synthesizes all blueprints into a folder, in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.errors import ConfigError
from gristmill.contract.load import deployable_blueprints, load_platform
from gristmill.contract.platform import CreateNetwork
from policies.demands import belonging, synthesized
from policies.finding import CannotJudgeError, Place
from policies.manifests import FOLDER, manifests
from policies.reading.stack import CHOICES_FILE, STACK_FILE, App

ORIGINS_FILE: Final = "origins.json"
SYNTHESIZED: Final = "cdktf.out"
JUDGED: Final = "judged"
TEAM_FOLDER: Final = "policies"
"""Beside a blueprint.yaml: a team's own checks."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: blueprints, and the stacks that were made from them."""

    folder: Path
    app: App
    blueprints: tuple[tuple[str, Blueprint], ...]
    """Each with its path."""
    origins: dict[str, tuple[Place, ...]]
    """Path in the construct tree -> lines of infra/, the innermost first. Empty where the stacks
    were not synthesized here."""

    def blueprint_of(self, stack: str) -> tuple[str, Blueprint] | None:
        """The blueprint that a stack was made from; None: shared by all."""
        name = stack.rpartition("-")[0]
        return next((b for b in self.blueprints if b[1].name == name), None)


def synthesize(platform: Path, named: str | None, out: Path) -> Subject:
    """`named`: paths of blueprints by spaces; None: all that name GPUs. Writes below `out`.

    Raises CannotJudgeError, with what the infrastructure's own checks said.
    """
    folder = out / SYNTHESIZED
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "PLATFORM": str(platform),
        "CDKTF_OUTDIR": str(folder),
        "ORIGINS": str(folder / ORIGINS_FILE),
        **({"BLUEPRINTS": named} if named else {}),
    }
    command = [sys.executable, "-m", "infra.main"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise CannotJudgeError(f"synthesis failed:\n{ended.stderr.strip()[-3000:]}")
    return read(platform, named, folder, out)


def read(platform: Path, named: str | None, folder: Path, out: Path) -> Subject:
    """What was synthesized into `folder` (a cdktf.out), which stays as it is: what is judged, and
    what is known beside it, is put below `out`. Raises CannotJudgeError."""
    try:
        chosen = load_platform(platform)
        blueprints = tuple(deployable_blueprints(named))
    except ConfigError as error:
        raise CannotJudgeError(str(error)) from None
    app = synthesized(folder)
    if not blueprints:
        raise CannotJudgeError("no blueprint names capacity.gpus; there is nothing to judge")
    names = [blueprint.name for _, blueprint in blueprints]
    belonging(app, chosen.name, names, chosen.account)
    _refuse_unjudged(blueprints, named)
    trees: dict[str, Any] = {name: stack.tree for name, stack in app.stacks.items()}
    origins = _origins(folder / ORIGINS_FILE)
    for path, blueprint in blueprints:
        stack = f"{blueprint.name}-{FOLDER}"
        if found := manifests(Path(path), stack):
            trees[stack] = found.tree
            origins |= found.origins
    network = chosen.network
    egress = network.egress if isinstance(network, CreateNetwork) else "none"
    judged = out / JUDGED
    _write(judged, folder / "stacks", trees, {"egress": egress})
    return Subject(judged, App.load(judged), blueprints, origins)


def _refuse_unjudged(blueprints: Sequence[tuple[str, Blueprint]], named: str | None) -> None:
    """Manifests and checks beside a blueprint that is not deployed would be read by nobody."""
    if named:
        return
    judged = {Path(path).parent for path, _ in blueprints}
    for folder in sorted(Path("blueprints").glob("*/")):
        for inner in (FOLDER, TEAM_FOLDER):
            if (folder / inner).is_dir() and folder not in judged:
                raise CannotJudgeError(
                    f"{folder / inner}: is judged with a blueprint that names capacity.gpus only; "
                    f"name GPUs in {folder}/blueprint.yaml, or move it"
                )


def _origins(file: Path) -> dict[str, tuple[Place, ...]]:
    if not file.exists():
        return {}
    return {
        path: tuple(Place.parse(text) for text in lines)
        for path, lines in json.loads(file.read_text()).items()
    }


def _write(
    judged: Path, stacks: Path, trees: Mapping[str, Any], choices: Mapping[str, str]
) -> None:
    """As Terraform gets them, byte for byte; the lines of findings are those of the original."""
    shutil.rmtree(judged, ignore_errors=True)
    for name, tree in trees.items():
        (judged / name).mkdir(parents=True)
        original = stacks / name / STACK_FILE
        if original.exists():
            shutil.copyfile(original, judged / name / STACK_FILE)
        else:
            (judged / name / STACK_FILE).write_text(json.dumps(tree, indent=2))
    (judged / CHOICES_FILE).write_text(json.dumps(choices))
