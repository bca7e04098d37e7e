"""What lies just beside each permission is denied, conditions included."""

from collections.abc import Mapping

import pytest

from tests.unit.infra.iam import Call, allows
from tests.unit.infra.synthesized import Synthesized

BATCH = "arn:aws:batch:us-east-1:111122223333"
QUEUE = f"{BATCH}:job-queue/mill-gpu"
WORKER = f"{BATCH}:job-definition/mill-worker:3"
MINE = {
    "aws:RequestTag/gristmill:blueprint": "mill",
    "aws:RequestTag/gristmill:team": "search-quality",
    "batch:ShareIdentifier": "searchquality",
}


def may(stacks: Synthesized, role: str, action: str, resource: str, **context: str) -> bool:
    return allows(stacks.statements(role), Call(action, resource, context))


def may_submit(stacks: Synthesized, definition: str, context: Mapping[str, str]) -> bool:
    """SubmitJob is asked of both."""
    statements = stacks.statements("mill-submitter")
    return all(
        allows(statements, Call("batch:SubmitJob", resource, context))
        for resource in (QUEUE, definition)
    )


def test_the_own_definition_is_submitted_as_the_own_team(maximal: Synthesized) -> None:
    assert may_submit(maximal, WORKER, MINE)


@pytest.mark.parametrize("name", MINE)
def test_another_teams_share_or_tag_is_denied(maximal: Synthesized, name: str) -> None:
    assert not may_submit(maximal, WORKER, {**MINE, name: "other"})
    assert not may_submit(maximal, WORKER, {k: v for k, v in MINE.items() if k != name})


def test_another_definition_is_denied(maximal: Synthesized) -> None:
    assert not may_submit(maximal, f"{BATCH}:job-definition/mill-worker-2:1", MINE)
    assert not may_submit(maximal, f"{BATCH}:job-definition/other-worker:1", MINE)


def test_nobody_registers_a_definition(maximal: Synthesized) -> None:
    for role in ("mill-job", "mill-coordinator", "mill-submitter", "mill-scheduler"):
        assert "batch:RegisterJobDefinition" not in maximal.allowed(role)
        assert "iam:PassRole" not in maximal.allowed(role)


def test_anothers_job_is_not_stopped(maximal: Synthesized) -> None:
    def stop(owner: str) -> bool:
        tag = {"aws:ResourceTag/gristmill:blueprint": owner}
        return may(maximal, "mill-submitter", "batch:TerminateJob", f"{BATCH}:job/1", **tag)

    assert stop("mill")
    assert not stop("other")


@pytest.mark.parametrize(
    ("prefix", "allowed"), [("in/", True), ("in/a/", True), ("", False), ("inner/", False)]
)
def test_a_listing_is_of_the_own_prefix(maximal: Synthesized, prefix: str, allowed: bool) -> None:
    listing = {"s3:prefix": prefix}
    assert may(maximal, "mill-job", "s3:ListBucket", "arn:aws:s3:::grain", **listing) is allowed


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("s3:PutObject", "arn:aws:s3:::grain/in/a"),
        ("s3:GetObject", "arn:aws:s3:::grain/other/a"),
        ("s3:DeleteObject", "arn:aws:s3:::flour/out/a"),
        ("sqs:ReceiveMessage", "arn:aws:sqs:us-east-1:111122223333:other-work"),
        ("sqs:SendMessage", "arn:aws:sqs:us-east-1:111122223333:other-work"),
        ("sqs:ReceiveMessage", "arn:aws:sqs:us-east-1:111122223333:mill-work-dead"),
    ],
)
def test_a_worker_is_denied(maximal: Synthesized, action: str, resource: str) -> None:
    assert not may(maximal, "mill-job", action, resource)


def test_a_role_of_ci_stays_within_the_boundary(maximal: Synthesized) -> None:
    role = "arn:aws:iam::111122223333:role/mill-job"
    boundary = {"iam:PermissionsBoundary": "arn:aws:iam::111122223333:policy/boundary"}
    for action in ("iam:CreateRole", "iam:PutRolePolicy"):
        assert may(maximal, "gristmill-ci-deploy", action, role, **boundary)
        assert not may(maximal, "gristmill-ci-deploy", action, role)


def test_ci_does_not_change_its_own_roles(maximal: Synthesized) -> None:
    boundary = {"iam:PermissionsBoundary": "arn:aws:iam::111122223333:policy/boundary"}
    own = "arn:aws:iam::111122223333:role/gristmill-ci-deploy"
    assert not may(maximal, "gristmill-ci-deploy", "iam:PutRolePolicy", own, **boundary)


def test_planning_only_reads(maximal: Synthesized) -> None:
    verbs = ("Get", "List", "Describe", "View")
    allowed = maximal.allowed("gristmill-ci-plan")
    assert all(action.partition(":")[2].startswith(verbs) for action in allowed)
