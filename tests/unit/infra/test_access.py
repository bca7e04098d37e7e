"""The exact permissions of each role, and on what."""

from typing import Any

import pytest

from gristmill.contract.deployment import Deployment
from infra.policy import Statement
from tests.unit.infra.synthesized import Synthesized

S3_READ = {"s3:GetObject", "s3:ListBucket"}
S3_WRITE = S3_READ | {"s3:PutObject", "s3:AbortMultipartUpload"}
KMS = {"kms:Decrypt", "kms:GenerateDataKey"}
STOP = {"batch:TerminateJob", "batch:CancelJob", "batch:DescribeJobs", "batch:ListJobs"}
SUBMIT = {"batch:SubmitJob", "batch:TagResource"}
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
TAKE = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"}
SEND = {"sqs:SendMessage", "sqs:GetQueueAttributes"}
PULL = {
    "ecr:GetAuthorizationToken",
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetDownloadUrlForLayer",
}
ROLES = {
    "mill-job": S3_WRITE | KMS | SEND | TAKE,
    "mill-coordinator": S3_WRITE | KMS | SUBMIT | STOP | SEND | TAKE | {"ssm:GetParameter"},
    "mill-execution": PULL | LOGS,
    "mill-instance": {
        "ecs:DiscoverPollEndpoint",
        "ecs:RegisterContainerInstance",
        "ecs:DeregisterContainerInstance",
        "ecs:SubmitContainerStateChange",
        "ecs:SubmitTaskStateChange",
        "ecs:SubmitAttachmentStateChanges",
        "ecs:Poll",
        "ecs:StartTelemetrySession",
        "ecs:UpdateContainerInstancesState",
    },
    "mill-submitter": S3_WRITE
    | KMS
    | SUBMIT
    | STOP
    | SEND
    | TAKE
    | {
        "ssm:GetParameter",
        "logs:GetLogEvents",
        "logs:FilterLogEvents",
    },
    "mill-scheduler": SUBMIT,
}
EVERYWHERE = {
    "ecr:GetAuthorizationToken",
    "ecs:DiscoverPollEndpoint",
    "batch:DescribeJobs",
    "batch:ListJobs",
}
"""Actions that AWS can't limit to a resource."""


def granting(stacks: Synthesized, role: str, action: str) -> list[dict[str, Any]]:
    return [s for s in stacks.statements(role) if action in s["Action"]]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_exactly_this(maximal: Synthesized, role: str) -> None:
    assert maximal.allowed(role) == ROLES[role]


def test_a_wildcard_resource_is_only_where_aws_has_no_other(maximal: Synthesized) -> None:
    for role in ROLES:
        for statement in maximal.statements(role):
            if "*" in statement["Resource"]:
                assert set(statement["Action"]) <= EVERYWHERE


def test_a_wildcard_resource_takes_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Statement(("s3:GetObject",), ("*",))


@pytest.mark.parametrize("role", ["mill-job", "mill-coordinator", "mill-submitter"])
def test_nobody_deletes_an_object(maximal: Synthesized, role: str) -> None:
    assert not {a for a in maximal.allowed(role) if "Delete" in a and a.startswith("s3:")}


def test_the_worker_writes_runs_and_output_only(maximal: Synthesized) -> None:
    written = {r for s in granting(maximal, "mill-job", "s3:PutObject") for r in s["Resource"]}
    assert written == {
        "arn:aws:s3:::flour/out/*",
        "arn:aws:s3:::mill-runs-111122223333-us-east-1/*",
    }


def test_a_listing_stays_below_its_prefix(maximal: Synthesized) -> None:
    for role in ("mill-job", "mill-coordinator", "mill-submitter"):
        for statement in granting(maximal, role, "s3:ListBucket"):
            if statement["Resource"] in (["arn:aws:s3:::grain"], ["arn:aws:s3:::flour"]):
                (prefix,) = statement["Condition"]["StringLike"]["s3:prefix"]
                assert prefix in ("in/*", "out/*")
            else:  # a bucket that is this blueprint's alone
                assert statement["Resource"][0].startswith("arn:aws:s3:::mill-")


def test_keys_are_used_through_s3_only(maximal: Synthesized) -> None:
    for role in ("mill-job", "mill-coordinator", "mill-submitter"):
        for statement in granting(maximal, role, "kms:Decrypt"):
            assert statement["Condition"] == {
                "StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}
            }


def test_an_existing_buckets_key_is_granted_for_reading(maximal: Synthesized) -> None:
    (grant,) = (
        s
        for s in granting(maximal, "mill-job", "kms:Decrypt")
        if s["Resource"] == ["arn:aws:kms:us-east-1:111122223333:key/grain"]
    )
    assert grant["Action"] == ["kms:Decrypt"]


@pytest.mark.parametrize("role", ["mill-submitter", "mill-coordinator"])
def test_workers_are_submitted_as_the_own_team_only(maximal: Synthesized, role: str) -> None:
    statements = [
        s
        for s in granting(maximal, role, "batch:SubmitJob")
        if any(r.endswith("job-queue/mill-gpu") for r in s["Resource"])
    ]
    (statement,) = statements
    assert statement["Condition"]["StringEquals"] == {
        "aws:RequestTag/gristmill:blueprint": "mill",
        "aws:RequestTag/gristmill:team": "search-quality",
        "batch:ShareIdentifier": "searchquality",
    }
    assert {r.rpartition(":")[2] for r in statement["Resource"]} == {
        "job-queue/mill-gpu",
        "job-definition/mill-worker",
        "*",
        "job/*",
    }


def test_without_a_schedule_people_start_workers_alone(minimal: Synthesized) -> None:
    (statement,) = granting(minimal, "mill-submitter", "batch:SubmitJob")
    assert {r.split(":", 5)[5] for r in statement["Resource"]} == {
        "job-queue/mill-gpu",
        "job-definition/mill-worker",
        "job-definition/mill-worker:*",
        "job/*",
    }
    (record,) = minimal.all("aws_ssm_parameter")
    deployment = Deployment.model_validate_json(record["value"])
    assert deployment.coordinator is None
    assert deployment.roles.coordinator is None


@pytest.mark.parametrize("role", ["mill-submitter", "mill-coordinator"])
def test_only_the_own_jobs_are_stopped(maximal: Synthesized, role: str) -> None:
    for statement in granting(maximal, role, "batch:TerminateJob"):
        assert statement["Condition"]["StringEquals"] == {
            "aws:ResourceTag/gristmill:blueprint": "mill"
        }


def test_the_scheduler_starts_the_coordinator_alone(maximal: Synthesized) -> None:
    (statement,) = granting(maximal, "mill-scheduler", "batch:SubmitJob")
    base = "arn:aws:batch:us-east-1:111122223333"
    assert statement["Resource"] == [
        f"{base}:job-queue/mill-small",
        f"{base}:job-definition/mill-coordinator",
        f"{base}:job-definition/mill-coordinator:*",
        f"{base}:job/*",
    ]


def test_every_role_stays_within_the_boundary(maximal: Synthesized) -> None:
    for role in maximal.all("aws_iam_role"):
        assert role["permissions_boundary"] == "arn:aws:iam::111122223333:policy/boundary"


@pytest.mark.parametrize(
    ("role", "service"),
    [
        ("mill-job", "ecs-tasks.amazonaws.com"),
        ("mill-execution", "ecs-tasks.amazonaws.com"),
        ("mill-scheduler", "scheduler.amazonaws.com"),
    ],
)
def test_a_service_takes_a_role_for_this_account_only(
    maximal: Synthesized, role: str, service: str
) -> None:
    trust = maximal.named("aws_iam_role", "name", role)["assume_role_policy"]
    assert service in trust
    assert '"aws:SourceAccount":"111122223333"' in trust
