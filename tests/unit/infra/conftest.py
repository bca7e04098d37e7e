"""Both ends of what can be chosen, synthesized once for the session."""

from pathlib import Path

import pytest

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.platform import Platform
from infra.team import resolve
from tests.unit.infra.choices import blueprint, maximal_blueprint, maximal_platform, platform
from tests.unit.infra.synthesized import Synthesized, synthesized


def _synthesize(factory: pytest.TempPathFactory, where: Platform, chosen: Blueprint) -> Synthesized:
    out: Path = factory.mktemp("cdktf.out")
    return synthesized(out, where, resolve(where, [("blueprint.yaml", chosen)]))


@pytest.fixture(scope="session")
def minimal(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return _synthesize(tmp_path_factory, platform(), blueprint())


@pytest.fixture(scope="session")
def maximal(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return _synthesize(tmp_path_factory, maximal_platform(), maximal_blueprint())
