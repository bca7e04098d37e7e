"""Both ways: what is called is allowed, and what is allowed is called or has its reason."""

import pytest

from gristmill.contract.load import load_blueprint
from infra.team import resolve
from tests.emulator.aws.apps import BLUEPRINT, CLOSED, REGION, nat_platform
from tests.emulator.aws.exercise import Deployed, Exercise
from tests.emulator.aws.gaps import (
    CLIENT_UNUSED,
    DEPLOY_UNUSED,
    EMPTYING,
    MACHINE_ROLES,
    NAT_UNUSED,
    NOT_IAM,
    PIPELINE_STACK,
    SCHEDULE_ROLES,
    WORKER_UNUSED,
)
from tests.unit.infra.iam import allows, as_call, as_deploy_action
from tests.unit.infra.synthesized import synthesized

pytestmark = [pytest.mark.emulator, pytest.mark.slow]


def granted(deployed: Deployed, role: str) -> set[str]:
    return {a for statement in deployed.statements(role) for a in statement["Action"]}


def called(deployed: Deployed) -> set[str]:
    return {as_deploy_action(recorded) for recorded in deployed.calls}


@pytest.fixture(scope="module")
def nat_pipeline(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the pipeline of a network with a way out may do."""
    where = nat_platform()
    teams = resolve(where, [("blueprint.yaml", load_blueprint(BLUEPRINT))])
    out = tmp_path_factory.mktemp("cdktf.out")
    return synthesized(out, where, teams).allowed("open-mill-ci-deploy")


@pytest.mark.parametrize("role", ["embed-corpus-job", "embed-corpus-coordinator"])
def test_every_call_of_a_run_is_allowed(exercised: Exercise, main: Deployed, role: str) -> None:
    statements = main.statements(role)
    calls = [as_call(recorded, CLOSED, REGION) for recorded in exercised.work_calls]
    assert len(calls) > 20
    assert [call for call in calls if not allows(statements, call)] == []


@pytest.mark.parametrize("role", ["job", "submitter"])
def test_no_call_of_a_run_is_allowed_to_the_other_team(
    exercised: Exercise, main: Deployed, role: str
) -> None:
    statements = main.statements(f"embed-news-{role}")
    calls = [as_call(recorded, CLOSED, REGION) for recorded in exercised.work_calls]
    assert [call for call in calls if allows(statements, call)] == []


@pytest.mark.parametrize(
    ("role", "reasons"),
    [
        ("embed-corpus-job", WORKER_UNUSED),
        ("embed-corpus-coordinator", CLIENT_UNUSED),
        ("embed-corpus-submitter", CLIENT_UNUSED),
    ],
)
def test_every_permission_is_used_or_has_a_reason(
    exercised: Exercise, main: Deployed, role: str, reasons: dict[str, str]
) -> None:
    used = {as_call(recorded, CLOSED, REGION).action for recorded in exercised.work_calls}
    assert granted(main, role) - used - set(reasons) == set()
    assert not used & set(reasons), "a reason for what is used by now"


def test_every_call_of_a_deployment_is_allowed_to_the_pipeline(main: Deployed) -> None:
    allowed = granted(main, "gristmill-ci-deploy")
    assert called(main) - allowed - PIPELINE_STACK - EMPTYING - set(NOT_IAM) == set()


def test_every_permission_of_the_pipeline_is_used_or_has_a_reason(main: Deployed) -> None:
    assert granted(main, "gristmill-ci-deploy") - called(main) - set(DEPLOY_UNUSED) == set()
    assert not called(main) & set(DEPLOY_UNUSED), "a reason for what is used by now"


def test_a_way_out_is_made_and_removed_by_what_its_pipeline_may_do(
    exercised: Exercise, main: Deployed, nat_pipeline: set[str]
) -> None:
    calls = called(exercised.apps["open-mill"])
    assert calls - nat_pipeline - set(NOT_IAM) == set()
    only_here = nat_pipeline - granted(main, "gristmill-ci-deploy")
    assert only_here - calls == set(NAT_UNUSED)


def test_every_role_is_under_one_of_these_proofs(main: Deployed) -> None:
    roles = {r["values"]["name"] for r in main.resources if r["type"] == "aws_iam_role"}
    of_a_team = {"job", "submitter", *MACHINE_ROLES}
    assert roles == {
        *(f"embed-news-{use}" for use in of_a_team),
        *(f"embed-corpus-{use}" for use in of_a_team | SCHEDULE_ROLES),
        "gristmill-flows",
        "gristmill-ci-plan",
        "gristmill-ci-deploy",
    }
