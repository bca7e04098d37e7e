"""Two blueprints of two teams on one platform: they share what is shared, and nothing else."""

import json
import re
from collections.abc import Callable

import pytest

from tests.unit.infra.choices import two_teams
from tests.unit.infra.iam import Call, allows
from tests.unit.infra.synthesized import Synthesized, synthesized

TEAMS = ("mill", "kiln")
USES = ("job", "submitter", "execution", "instance")
SILO = "arn:aws:s3:::silo"
AWS = "us-east-1:111122223333"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    teams = two_teams()
    return synthesized(tmp_path_factory.mktemp("cdktf.out"), teams[0].platform, teams)


def roles(stacks: Synthesized, name: str) -> list[str]:
    return [r["name"] for r in stacks.all("aws_iam_role") if r["name"].startswith(f"{name}-")]


def test_one_network_serves_both(both: Synthesized) -> None:
    assert len(both.all("aws_vpc")) == 1
    assert len(both.all("aws_ecr_repository")) == 1
    for environment in both.all("aws_batch_compute_environment"):
        for subnet in environment["compute_resources"]["subnets"]:
            assert "gristmill-foundation" in subnet


def test_the_way_to_s3_leads_to_the_buckets_of_both(both: Synthesized) -> None:
    (endpoint,) = (e for e in both.all("aws_vpc_endpoint") if e["service_name"].endswith("s3"))
    ours, _ = json.loads(endpoint["policy"])["Statement"]
    own = {f"{n}-{u}-111122223333-us-east-1" for n in TEAMS for u in ("runs", "models")}
    named = {resource.removeprefix("arn:aws:s3:::") for resource in ours["Resource"]}
    buckets = own | {"silo", "mill-flour", "kiln-flour"}
    assert named == buckets | {f"{bucket}/*" for bucket in buckets}


def test_endpoints_of_a_schedule_are_there_when_one_of_them_has_one(both: Synthesized) -> None:
    services = {e["service_name"].rpartition(".")[2] for e in both.all("aws_vpc_endpoint")}
    assert {"batch", "ssm"} <= services
    assert {q["name"] for q in both.all("aws_batch_job_queue")} == {
        "mill-gpu",
        "mill-small",
        "kiln-gpu",
    }


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("name", "other"), [TEAMS, TEAMS[::-1]])
def test_a_role_never_names_what_is_the_others(
    both: Synthesized, name: str, other: str, use: str
) -> None:
    text = json.dumps(both.statements(f"{name}-{use}"))
    assert re.search(rf"\b{name}\b", text)
    assert not re.search(rf"\b{other}\b", text)


@pytest.mark.parametrize(("name", "other"), [TEAMS, TEAMS[::-1]])
def test_no_stack_of_one_reads_a_stack_of_the_other(
    both: Synthesized, name: str, other: str
) -> None:
    for stack, tree in both.stacks.items():
        if stack.startswith(f"{name}-"):
            states = tree.get("data", {}).get("terraform_remote_state", {})
            assert not [key for key in states if f"-{other}-" in key or key.startswith(other)]


def others(name: str) -> dict[str, Callable[[str], Call]]:
    """What `name` might try on another blueprint's things, as itself."""
    mine = {
        "aws:RequestTag/gristmill:blueprint": name,
        "aws:RequestTag/gristmill:team": f"{name}-people",
        "batch:ShareIdentifier": f"{name}people",
    }
    return {
        "read its input": lambda o: Call("s3:GetObject", f"{SILO}/{o}/a", {}),
        "list its input": lambda o: Call("s3:ListBucket", SILO, {"s3:prefix": f"{o}/"}),
        "read its results": lambda o: Call("s3:GetObject", f"arn:aws:s3:::{o}-flour/out/a", {}),
        "write its results": lambda o: Call("s3:PutObject", f"arn:aws:s3:::{o}-flour/out/a", {}),
        "write its runs": lambda o: Call(
            "s3:PutObject", f"arn:aws:s3:::{o}-runs-111122223333-us-east-1/runs/a", {}
        ),
        "take its shards": lambda o: Call("sqs:ReceiveMessage", f"arn:aws:sqs:{AWS}:{o}-work", {}),
        "fill its queue": lambda o: Call("sqs:SendMessage", f"arn:aws:sqs:{AWS}:{o}-work", {}),
        "use its queue": lambda o: Call(
            "batch:SubmitJob", f"arn:aws:batch:{AWS}:job-queue/{o}-gpu", mine
        ),
        "start its workers": lambda o: Call(
            "batch:SubmitJob", f"arn:aws:batch:{AWS}:job-definition/{o}-worker:1", mine
        ),
        "start its coordinator": lambda o: Call(
            "batch:SubmitJob", f"arn:aws:batch:{AWS}:job-definition/{o}-coordinator:1", mine
        ),
        "stop its jobs": lambda o: Call(
            "batch:TerminateJob",
            f"arn:aws:batch:{AWS}:job/1",
            {"aws:ResourceTag/gristmill:blueprint": o},
        ),
        "read its deployment": lambda o: Call(
            "ssm:GetParameter", f"arn:aws:ssm:{AWS}:parameter/gristmill/{o}", {}
        ),
        "read its log": lambda o: Call(
            "logs:GetLogEvents", f"arn:aws:logs:{AWS}:log-group:/gristmill/{o}:log-stream:a", {}
        ),
    }


@pytest.mark.parametrize("what", others(""))
@pytest.mark.parametrize(("name", "other"), [TEAMS, TEAMS[::-1]])
def test_nobody_of_one_team_may_do_this_to_the_other(
    both: Synthesized, name: str, other: str, what: str
) -> None:
    call = others(name)[what]
    for role in roles(both, name):
        assert not allows(both.statements(role), call(other)), role
    assert any(allows(both.statements(role), call(name)) for role in roles(both, name)) or (
        name == "kiln" and what == "start its coordinator"
    )
