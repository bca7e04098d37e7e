"""The stacks of the shipped blueprints, on a platform that has every section."""

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gristmill.contract.load import load_platform
from infra.main import chosen_blueprints, synthesize
from infra.team import resolve
from tests.unit.policies.case import Trees

PIPELINE = """
ci:
  deploy_subject: repo:acme/grist:environment:production
  plan_subject: repo:acme/grist:pull_request
permissions_boundary: arn:aws:iam::111122223333:policy/boundary
alerts: you@your.company
"""


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder for each stack. Don't write there."""
    folder = tmp_path_factory.mktemp("policies")
    platform = folder / "platform.yaml"
    platform.write_text(Path("platform.example.yaml").read_text() + PIPELINE)
    loaded = load_platform(platform)
    synthesize(loaded, resolve(loaded, chosen_blueprints(None)), folder / "out")
    return folder / "out" / "stacks"


@pytest.fixture(scope="session")
def shipped(synthesized: Path) -> Callable[[], Trees]:
    """The stacks, parsed, fresh at each call: a test may change them."""
    trees = {
        path.parent.name: json.loads(path.read_text()) for path in synthesized.glob("*/cdk.tf.json")
    }
    return lambda: copy.deepcopy(trees)
