"""Each construct by itself: the least it can be given, the most, and values not known yet."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.infra.choices import blueprint, maximal_blueprint, team

ACCOUNT, REGION = "111122223333", "us-east-1"
WHERE = {"account": ACCOUNT, "region": REGION}
LATER = "${var.later}"
"""As Terraform writes a value that only applying will tell."""
Tree = dict[str, Any]


def synthesized(build: Callable[[Any], object]) -> Tree:
    """Resources of a stack with nothing else in it."""
    from cdktn import TerraformStack, Testing

    stack = TerraformStack(Testing.app(), "alone")
    build(stack)
    resources: Tree = json.loads(Testing.synth(stack)).get("resource", {})
    return resources


def counted(resources: Tree) -> Counter[str]:
    return Counter({kind.removeprefix("aws_"): len(made) for kind, made in resources.items()})


def only(resources: Tree, kind: str) -> Tree:
    (found,) = resources[f"aws_{kind}"].values()
    tree: Tree = found
    return tree


def later(scope: Any) -> str:
    from cdktn import TerraformVariable

    value: str = TerraformVariable(scope, "later", type="string").string_value
    return value


def a_role(scope: Any, *, boundary: str | None = None, hours: int = 1) -> Any:
    from infra.constructs.role import JobRole
    from infra.policy import trust_account

    return JobRole(
        scope,
        "role",
        name="mill-someone",
        account=ACCOUNT,
        description="Someone",
        trust=trust_account(ACCOUNT),
        boundary=boundary,
        max_hours=hours,
    )


def a_bucket(scope: Any, key: str, *, days: int | None = None, protect: bool = True) -> Any:
    from infra.constructs.object_area import AccessLogs, Keeping, ObjectArea

    logs = AccessLogs(scope, "logs", bucket="logs", account=ACCOUNT, days=30, protect=protect)
    keeping = Keeping(object_days=days, old_version_days=days)
    return ObjectArea(
        scope,
        "area",
        bucket="flour",
        key=key,
        region=REGION,
        logs=logs,
        keeping=keeping,
        protect=protect,
    )


def a_queue(scope: Any, value: str, purchase: Sequence[str], **more: Any) -> Any:
    from infra.constructs.gpu_queue import GpuQueue

    return GpuQueue(
        scope,
        "gpu",
        name="mill",
        **WHERE,
        shape=team(maximal_blueprint() if len(purchase) > 1 else blueprint()).worker,
        purchase=purchase,
        share="mill",
        patience_seconds=3600,
        subnets=[value],
        security_group=value,
        instance_profile=value,
        **{"after": [], "tags": {}, **more},
    )


def a_job(scope: Any, value: str, *, attempts: int = 1, tags: dict[str, str] | None = None) -> Any:
    from infra.constructs.inference_job import InferenceJob

    return InferenceJob(
        scope,
        "worker",
        name="mill",
        image="mill@sha256:0",
        shape=team().worker,
        environment={"GIVEN": value},
        job_role=value,
        execution_role=value,
        log_group="/gristmill/mill",
        region=REGION,
        attempts=attempts,
        timeout_seconds=60,
        tags=tags or {},
    )


def a_coordinator(scope: Any, value: str) -> Any:
    from infra.constructs.inference_job import CoordinatorJob

    return CoordinatorJob(
        scope,
        "coordinator",
        name="mill",
        image="mill@sha256:0",
        command=("gristmill", "run"),
        environment={"GIVEN": value},
        job_role=value,
        execution_role=value,
        log_group="/gristmill/mill",
        region=REGION,
        timeout_seconds=60,
        tags={},
    )


def a_network(scope: Any, zones: str, **chosen: Any) -> Any:
    from gristmill.contract.platform import CreateNetwork
    from infra.constructs.private_network import PrivateNetwork, Reachable

    endpoints = ("sqs",) if len(zones) == 2 else ("sqs", "logs", "batch")
    return PrivateNetwork(
        scope,
        "network",
        name="mill",
        **WHERE,
        settings=CreateNetwork(kind="create", **chosen),
        zones=[f"{REGION}{zone}" for zone in zones],
        reachable=Reachable(endpoints, ("flour",)),
    )


NOT_KNOWN_YET: dict[str, Callable[[Any, str], object]] = {
    "ObjectArea": a_bucket,
    "GpuQueue": lambda scope, value: a_queue(scope, value, ("SPOT", "EC2")),
    "InferenceJob": a_job,
    "CoordinatorJob": a_coordinator,
    "JobRole": lambda scope, value: a_role(scope, boundary=value),
    "grants": lambda scope, value: a_bucket(scope, value).grant_write(a_role(scope), "write"),
}


@pytest.mark.parametrize("name", NOT_KNOWN_YET)
def test_a_value_that_is_not_known_yet_is_written_like_any_other(name: str) -> None:
    """So no construct looks into what it is given."""
    build = NOT_KNOWN_YET[name]
    now = json.dumps(synthesized(lambda scope: build(scope, "arn:known")))
    then = json.dumps(synthesized(lambda scope: build(scope, later(scope))))
    assert LATER in then
    assert then.replace(LATER, "arn:known") == now


def test_no_construct_asks_whether_a_value_is_known() -> None:
    asking = {"is_unresolved", "Tokenization", "resolve", "unresolved"}
    for path in sorted(Path("infra").rglob("*.py")):
        named = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute | ast.Name)
        }
        allowed = {"resolve"} if path.name in ("main.py", "diagram.py") else set()
        assert not named & asking - allowed, path


def test_a_role_is_born_without_permission() -> None:
    made = synthesized(a_role)
    assert counted(made) == {"iam_role": 1}
    assert "permissions_boundary" not in only(made, "iam_role")
    assert only(made, "iam_role")["max_session_duration"] == 3600


def test_a_role_has_one_policy_for_each_purpose() -> None:
    from infra.policy import Statement

    def build(scope: Any) -> None:
        role = a_role(scope, boundary="arn:boundary", hours=8)
        role.allow("read", [Statement(("s3:GetObject",), ("arn:a", "arn:b"))])
        role.allow_much("plan", [Statement(("ec2:DescribeVpcs",), ("*",), reason="AWS has no")])

    made = synthesized(build)
    assert counted(made) == {
        "iam_role": 1,
        "iam_role_policy": 1,
        "iam_policy": 1,
        "iam_role_policy_attachment": 1,
    }
    assert only(made, "iam_role")["permissions_boundary"] == "arn:boundary"
    assert only(made, "iam_role")["max_session_duration"] == 8 * 3600
    assert only(made, "iam_role_policy")["name"] == "read"


@pytest.mark.parametrize("protect", [True, False])
def test_a_key_is_protected_or_not(protect: bool) -> None:
    from infra.constructs.key import Key

    made = synthesized(
        lambda scope: Key(scope, "key", name="mill", **WHERE, log_groups="/mill", protect=protect)
    )
    assert counted(made) == {"kms_key": 1, "kms_alias": 1}
    assert ("lifecycle" in only(made, "kms_key")) is protect


@pytest.mark.parametrize("days", [None, 30])
def test_a_bucket_keeps_what_it_is_told_to(days: int | None) -> None:
    made = synthesized(lambda scope: a_bucket(scope, "arn:key", days=days, protect=days is None))
    assert counted(made)["s3_bucket"] == 2
    (rule,) = next(
        lifecycle["rule"]
        for name, lifecycle in made["aws_s3_bucket_lifecycle_configuration"].items()
        if name.startswith("area")
    )
    assert ("expiration" in rule) is (days is not None)
    assert ("noncurrent_version_expiration" in rule) is (days is not None)
    assert all(("lifecycle" in b) is (days is None) for b in made["aws_s3_bucket"].values())


@pytest.mark.parametrize("key", [None, "arn:key"])
def test_an_existing_bucket_makes_nothing_and_grants_its_key_where_it_has_one(
    key: str | None,
) -> None:
    from infra.constructs.object_area import ExistingArea

    made = synthesized(
        lambda scope: ExistingArea("grain", key, REGION).grant_read(a_role(scope), "read", "in/")
    )
    assert counted(made) == {"iam_role": 1, "iam_role_policy": 1}
    statements = json.loads(only(made, "iam_role_policy")["policy"])["Statement"]
    assert [s["Action"] for s in statements] == [
        ["s3:ListBucket"],
        ["s3:GetObject"],
        *([["kms:Decrypt"]] if key else []),
    ]


@pytest.mark.parametrize("attempts", [1, 10])
def test_a_work_queue_has_its_dead_letters(attempts: int) -> None:
    from infra.constructs.work_queue import WorkQueue

    made = synthesized(
        lambda scope: WorkQueue(scope, "shards", name="mill", **WHERE, attempts=attempts)
    )
    assert counted(made) == {"sqs_queue": 2}
    (work,) = (q for q in made["aws_sqs_queue"].values() if q["name"] == "mill-work")
    assert json.loads(work["redrive_policy"])["maxReceiveCount"] == attempts


@pytest.mark.parametrize("purchase", [("EC2",), ("SPOT",), ("SPOT", "EC2")])
def test_a_gpu_queue_has_an_environment_for_each_way_of_buying(purchase: tuple[str, ...]) -> None:
    made = synthesized(lambda scope: a_queue(scope, "id", purchase))
    assert counted(made) == {
        "launch_template": 1,
        "batch_compute_environment": len(purchase),
        "batch_scheduling_policy": 1,
        "batch_job_queue": 1,
    }
    order = only(made, "batch_job_queue")["compute_environment_order"]
    assert [o["order"] for o in order] == list(range(1, len(purchase) + 1))


def test_a_machines_tags_reach_its_disks() -> None:
    made = synthesized(lambda scope: a_queue(scope, "id", ("EC2",), tags={"cost": "42"}))
    (disks,) = only(made, "launch_template")["tag_specifications"]
    machines = only(made, "batch_compute_environment")["compute_resources"]
    assert disks["tags"] == machines["tags"] == {"cost": "42"}


@pytest.mark.parametrize(("attempts", "tags"), [(1, {}), (10, {"cost": "42"})])
def test_a_job_is_one_definition(attempts: int, tags: dict[str, str]) -> None:
    made = synthesized(lambda scope: a_job(scope, "arn", attempts=attempts, tags=tags))
    assert counted(made) == {"batch_job_definition": 1}
    definition = only(made, "batch_job_definition")
    assert definition["retry_strategy"]["attempts"] == attempts
    assert definition.get("tags", {}) == tags


def test_a_coordinator_is_one_definition() -> None:
    made = synthesized(lambda scope: a_coordinator(scope, "arn"))
    assert counted(made) == {"batch_job_definition": 1}
    assert only(made, "batch_job_definition")["platform_capabilities"] == ["FARGATE"]


def test_the_smallest_network_is_two_zones_and_what_is_reached() -> None:
    made = counted(synthesized(lambda scope: a_network(scope, "ab")))
    assert (made["subnet"], made["vpc_endpoint"], made["nat_gateway"]) == (2, 2, 0)


def test_the_largest_closed_network_is_three_zones() -> None:
    made = counted(synthesized(lambda scope: a_network(scope, "abc")))
    assert (made["subnet"], made["vpc_endpoint"], made["nat_gateway"]) == (3, 4, 0)


def test_a_network_with_a_way_out_has_one_public_subnet_more() -> None:
    made = counted(synthesized(lambda scope: a_network(scope, "abc", egress="nat")))
    assert (made["subnet"], made["vpc_endpoint"], made["nat_gateway"]) == (4, 1, 1)


@pytest.mark.parametrize("count", [0, 5])
def test_a_dashboard_shows_what_it_is_given_two_a_row(count: int) -> None:
    from infra.constructs.dashboard import Dashboard, Graph

    graphs = [Graph(str(number), (("AWS/SQS", "Age"),)) for number in range(count)]
    made = synthesized(
        lambda scope: Dashboard(
            scope, "page", name="mill", region=REGION, introduction="Hello", graphs=graphs
        )
    )
    text, *widgets = json.loads(only(made, "cloudwatch_dashboard")["dashboard_body"])["widgets"]
    assert text["properties"]["markdown"] == "Hello"
    assert [w["x"] for w in widgets] == [0, 12, 0, 12, 0][:count]
