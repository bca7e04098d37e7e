"""The CI workflow that a fork gets, and the roles and stacks that infrastructure makes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.client.fork import fork
from gristmill.client.workflow import planned_stacks, workflows
from gristmill.contract.load import load_blueprint
from gristmill.contract.platform import Platform
from infra.team import resolve
from tests.unit.infra.choices import maximal_blueprint, maximal_platform, platform
from tests.unit.infra.synthesized import Synthesized, synthesized


@pytest.fixture(scope="module")
def chosen() -> Platform:
    return maximal_platform(name="mills", region="us-west-2", network={"kind": "create"})


@pytest.fixture(scope="module")
def stacks(chosen: Platform, tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    teams = resolve(chosen, [("blueprint.yaml", maximal_blueprint())])
    return synthesized(tmp_path_factory.mktemp("cdktf.out"), chosen, teams)


@pytest.fixture
def files(chosen: Platform, tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "platform.yaml").write_text(chosen.model_dump_json())
    texts = workflows(tmp_path, "mill").texts
    return {path.parts[0]: yaml.safe_load(text) for path, text in texts.items()}


def test_a_workflow_plans_with_the_role_that_the_pipeline_stack_makes(
    files: dict[str, Any], stacks: Synthesized
) -> None:
    role = stacks.named("aws_iam_role", "name", "mills-ci-plan")
    arn = f"arn:aws:iam::111122223333:role/{role['name']}"
    login = _login(files)
    assert login["role-to-assume"] == arn
    assert files[".gitlab"]["gristmill-mill-plan"]["variables"]["AWS_ROLE_ARN"] == arn


def test_its_token_is_the_one_that_the_role_trusts(
    files: dict[str, Any], stacks: Synthesized
) -> None:
    role = stacks.named("aws_iam_role", "name", "mills-ci-plan")
    (statement,) = json.loads(role["assume_role_policy"])["Statement"]
    trusted = {
        key.rpartition(":")[2]: value
        for key, value in statement["Condition"]["StringEquals"].items()
    }
    environment = files[".github"]["jobs"]["plan"]["environment"]
    assert trusted == {
        "aud": _login(files)["audience"],
        "sub": f"repo:owner/name:environment:{environment}",
    }
    tokens = files[".gitlab"]["gristmill-mill-plan"]["id_tokens"]
    assert tokens == {"AWS_TOKEN": {"aud": trusted["aud"]}}


def test_that_role_may_not_lock_and_the_plan_does_not(
    files: dict[str, Any], stacks: Synthesized
) -> None:
    assert "s3:GetObject" in stacks.allowed("mills-ci-plan")
    assert "s3:PutObject" not in stacks.allowed("mills-ci-plan")
    for plan in (
        files[".github"]["jobs"]["plan"]["steps"][-1]["run"],
        files[".gitlab"]["gristmill-mill-plan"]["script"][-1],
    ):
        assert " plan -input=false -no-color -lock=false" in plan


def test_every_stack_is_planned_but_the_one_that_a_person_deploys(
    chosen: Platform, stacks: Synthesized
) -> None:
    assert sorted(planned_stacks(chosen, "mill")) == sorted(set(stacks.stacks) - {"mills-pipeline"})


def test_a_fresh_fork_can_be_deployed_beside_what_it_was_forked_from(tmp_path: Path) -> None:
    fork("embed-corpus", tmp_path / "my-corpus")
    both = [Path("blueprints/embed-corpus"), tmp_path / "my-corpus"]
    teams = resolve(platform(), [(str(path), load_blueprint(path)) for path in both])
    assert [team.name for team in teams] == ["embed-corpus", "my-corpus"]


def _login(files: dict[str, Any]) -> dict[str, str]:
    steps = files[".github"]["jobs"]["plan"]["steps"]
    return next(step["with"] for step in steps if "role-to-assume" in step.get("with", {}))
