"""Both ways: what is called is allowed, and what is allowed is called or has its reason."""

import pytest

from tests.emulator.aws.exercise import Exercise
from tests.emulator.aws.gaps import (
    CLIENT_UNUSED,
    DEPLOY_UNUSED,
    EMPTYING,
    MACHINE_ROLES,
    NOT_IAM,
    PIPELINE_STACK,
    WORKER_UNUSED,
)
from tests.emulator.aws.terraform import ACCOUNT
from tests.unit.infra.iam import allows, as_call, as_deploy_action

pytestmark = [pytest.mark.emulator, pytest.mark.slow]
REGION = "us-east-1"


def granted(exercised: Exercise, role: str) -> set[str]:
    return {a for statement in exercised.statements(role) for a in statement["Action"]}


@pytest.mark.parametrize("role", ["embed-corpus-job", "embed-corpus-coordinator"])
def test_every_call_of_a_run_is_allowed(exercised: Exercise, role: str) -> None:
    statements = exercised.statements(role)
    calls = [as_call(recorded, ACCOUNT, REGION) for recorded in exercised.work_calls]
    assert len(calls) > 20
    assert [call for call in calls if not allows(statements, call)] == []


@pytest.mark.parametrize(
    ("role", "reasons"),
    [
        ("embed-corpus-job", WORKER_UNUSED),
        ("embed-corpus-coordinator", CLIENT_UNUSED),
        ("embed-corpus-submitter", CLIENT_UNUSED),
    ],
)
def test_every_permission_is_used_or_has_a_reason(
    exercised: Exercise, role: str, reasons: dict[str, str]
) -> None:
    used = {as_call(recorded, ACCOUNT, REGION).action for recorded in exercised.work_calls}
    assert granted(exercised, role) - used - set(reasons) == set()
    assert not used & set(reasons), "a reason for what is used by now"


def test_every_call_of_a_deployment_is_allowed_to_the_pipeline(exercised: Exercise) -> None:
    called = {as_deploy_action(recorded) for recorded in exercised.deploy_calls}
    allowed = granted(exercised, "gristmill-ci-deploy")
    assert called - allowed - PIPELINE_STACK - EMPTYING - set(NOT_IAM) == set()


def test_every_permission_of_the_pipeline_is_used_or_has_a_reason(exercised: Exercise) -> None:
    called = {as_deploy_action(recorded) for recorded in exercised.deploy_calls}
    assert granted(exercised, "gristmill-ci-deploy") - called - set(DEPLOY_UNUSED) == set()
    assert not called & set(DEPLOY_UNUSED), "a reason for what is used by now"


def test_every_role_is_under_one_of_these_proofs(exercised: Exercise) -> None:
    proven = {"job", "coordinator", "submitter"}
    roles = {r["values"]["name"] for r in exercised.resources if r["type"] == "aws_iam_role"}
    assert roles == {
        *(f"embed-corpus-{use}" for use in proven),
        *MACHINE_ROLES,
        "gristmill-flows",
        "gristmill-ci-plan",
        "gristmill-ci-deploy",
    }
