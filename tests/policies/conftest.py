"""The gate with checkov and the tools beside it, which live in an environment of their own."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from policies.gate import ENVIRONMENT
from policies.reading.stack import CHOICES_FILE
from policies.synth import SYNTHESIZED, Subject
from tests.fixtures.stacks import full_platform, shipped, subject
from tests.unit.policies.case import Trees

__all__ = ["full_platform", "shipped", "subject"]


@pytest.fixture(scope="session")
def environment() -> Path:
    if not (ENVIRONMENT / "bin" / "checkov").exists():
        pytest.fail(f"{ENVIRONMENT.name} is missing: run `make setup`")
    return ENVIRONMENT


@pytest.fixture(scope="session")
def policy_python(environment: Path) -> Path:
    return environment / "bin" / "python"


@pytest.fixture
def cloud_out(subject: Subject, tmp_path: Path) -> Path:
    """A cdktf.out of one's own, to spoil."""
    return Path(shutil.copytree(subject.folder.parent / SYNTHESIZED, tmp_path / "cdktf.out"))


@pytest.fixture
def write_app(tmp_path: Path) -> Callable[[str, Trees], Path]:
    """Trees -> a folder of stacks, by a name."""

    def write(name: str, trees: Trees) -> Path:
        folder = tmp_path / "apps" / name
        for stack, tree in trees.items():
            (folder / stack).mkdir(parents=True)
            (folder / stack / "cdk.tf.json").write_text(json.dumps(tree, indent=2))
        (folder / CHOICES_FILE).write_text(json.dumps({"egress": "none"}))
        return folder

    return write
