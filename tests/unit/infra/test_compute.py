"""What machines and jobs are, in both the smallest and the largest choice."""

import base64
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from infra.constructs.gpu_queue import MISCONFIGURED, NO_CAPACITY
from tests.unit.infra.choices import blueprint, platform, team
from tests.unit.infra.synthesized import Synthesized, synthesized


def environments(stacks: Synthesized) -> dict[str, Any]:
    return {
        resource["compute_resources"]["type"]: resource
        for resource in stacks.all("aws_batch_compute_environment")
    }


def test_spot_is_tried_before_on_demand(maximal: Synthesized) -> None:
    queue = maximal.named("aws_batch_job_queue", "name", "mill-gpu")
    order = [
        o["compute_environment"]
        for o in sorted(queue["compute_environment_order"], key=lambda o: o["order"])
    ]
    assert ["_spot_" in order[0], "_on-demand_" in order[1]] == [True, True]


def test_only_what_the_blueprint_buys_is_there(minimal: Synthesized) -> None:
    assert set(environments(minimal)) == {"EC2"}


def test_no_machine_stays_when_no_work_is_left(maximal: Synthesized) -> None:
    for kind in ("SPOT", "EC2"):
        resources = environments(maximal)[kind]["compute_resources"]
        assert resources["min_vcpus"] == 0
        assert "desired_vcpus" not in resources


def test_machines_are_chosen_by_price_and_capacity(maximal: Synthesized) -> None:
    made = environments(maximal)
    assert (
        made["SPOT"]["compute_resources"]["allocation_strategy"] == "SPOT_PRICE_CAPACITY_OPTIMIZED"
    )
    assert made["EC2"]["compute_resources"]["allocation_strategy"] == "BEST_FIT_PROGRESSIVE"
    assert "bid_percentage" not in made["SPOT"]["compute_resources"]


def test_gpu_machines_run_amazon_linux_2023(maximal: Synthesized) -> None:
    for kind in ("SPOT", "EC2"):
        (image,) = environments(maximal)[kind]["compute_resources"]["ec2_configuration"]
        assert image["image_type"] == "ECS_AL2023_NVIDIA"


def test_a_replacement_environment_comes_before_the_old_one_goes(maximal: Synthesized) -> None:
    for resource in environments(maximal).values():
        assert resource["lifecycle"]["create_before_destroy"] is True
        assert "name" not in resource
    for kind in ("SPOT", "EC2"):
        assert any("role_policy" in d for d in environments(maximal)[kind]["depends_on"])
        assert environments(maximal)[kind]["lifecycle"]["ignore_changes"] == [
            "compute_resources[0].desired_vcpus"
        ]


def test_the_launch_template_is_pinned(maximal: Synthesized) -> None:
    template = environments(maximal)["SPOT"]["compute_resources"]["launch_template"]
    assert template["version"].endswith(".latest_version}")


def test_user_data_is_mime_and_asks_for_spot_draining(maximal: Synthesized) -> None:
    template = maximal.one("aws_launch_template")
    message = message_from_bytes(base64.b64decode(template["user_data"]))
    assert message.get_content_type() == "multipart/mixed"
    (part,) = (p for p in message.walk() if not p.is_multipart())
    script = part.get_payload()
    assert "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true" in script
    assert "ECS_CONTAINER_STOP_TIMEOUT=110s" in script
    assert ">> /etc/ecs/ecs.config" in script


def test_machines_keep_their_metadata_from_containers(maximal: Synthesized) -> None:
    options = maximal.one("aws_launch_template")["metadata_options"]
    assert options["http_tokens"] == "required"
    assert options["http_put_response_hop_limit"] == 1


def test_the_root_disk_is_encrypted(maximal: Synthesized) -> None:
    (mapping,) = maximal.one("aws_launch_template")["block_device_mappings"]
    assert mapping["ebs"]["encrypted"] == "true"
    assert mapping["ebs"]["volume_type"] == "gp3"


def test_a_job_that_can_never_start_is_cancelled_with_its_reason(maximal: Synthesized) -> None:
    for queue in maximal.all("aws_batch_job_queue"):
        actions = queue["job_state_time_limit_action"]
        waits = {a["reason"]: a["max_time_seconds"] for a in actions}
        assert waits == dict.fromkeys(MISCONFIGURED, 600) | {NO_CAPACITY: 6 * 3600}
        assert {(a["state"], a["action"]) for a in actions} == {("RUNNABLE", "CANCEL")}


@pytest.mark.parametrize(
    ("deadline", "seconds"), [(None, 86_400), ("1m", 600), ("6h", 21_600), ("3d", 86_400)]
)
def test_work_waits_for_capacity_until_the_deadline_as_far_as_aws_batch_waits(
    tmp_path: Path, deadline: str | None, seconds: int
) -> None:
    chosen = team(blueprint(deadline=deadline) if deadline else blueprint())
    (queue,) = synthesized(tmp_path, platform(), (chosen,)).all("aws_batch_job_queue")
    waits = {a["reason"]: a["max_time_seconds"] for a in queue["job_state_time_limit_action"]}
    assert waits[NO_CAPACITY] == seconds


def test_the_gpu_queue_is_shared_by_team(maximal: Synthesized) -> None:
    policy = maximal.one("aws_batch_scheduling_policy")["fair_share_policy"]
    assert [s["share_identifier"] for s in policy["share_distribution"]] == ["searchquality"]


def test_a_worker_has_one_gpu_and_no_privilege(maximal: Synthesized) -> None:
    container = maximal.container("mill-worker")
    assert {"type": "GPU", "value": "1"} in container["resourceRequirements"]
    assert container["user"] == "10001:10001"
    assert container["readonlyRootFilesystem"] is True
    assert container["privileged"] is False
    assert "@sha256:" in container["image"]
    assert container["linuxParameters"]["sharedMemorySize"] > 1024
    assert container["linuxParameters"]["initProcessEnabled"] is True
    assert {limit["name"] for limit in container["ulimits"]} == {"memlock", "nofile", "stack"}


def test_without_a_schedule_nothing_is_there_for_a_coordinator(minimal: Synthesized) -> None:
    assert {q["name"] for q in minimal.all("aws_batch_job_queue")} == {"mill-gpu"}
    assert {d["name"] for d in minimal.all("aws_batch_job_definition")} == {"mill-worker"}
    roles = {role["name"] for role in minimal.all("aws_iam_role", "compute")}
    assert roles == {"mill-execution", "mill-instance", "mill-job"}


def test_the_coordinator_has_no_gpu(maximal: Synthesized) -> None:
    container = maximal.container("mill-coordinator")
    assert {r["type"] for r in container["resourceRequirements"]} == {"MEMORY", "VCPU"}
    assert container["networkConfiguration"] == {"assignPublicIp": "DISABLED"}
    assert container["readonlyRootFilesystem"] is True


def test_a_job_ends_at_the_deadline(maximal: Synthesized, minimal: Synthesized) -> None:
    def seconds(stacks: Synthesized) -> int:
        found = stacks.named("aws_batch_job_definition", "name", "mill-worker")
        return int(found["timeout"]["attempt_duration_seconds"])

    assert (seconds(maximal), seconds(minimal)) == (6 * 3600, 86_400)


def test_a_shard_is_given_up_after_the_blueprints_attempts(maximal: Synthesized) -> None:
    work = maximal.named("aws_sqs_queue", "name", "mill-work")
    assert '"maxReceiveCount":4' in work["redrive_policy"]
    definition = maximal.named("aws_batch_job_definition", "name", "mill-worker")
    assert definition["retry_strategy"]["attempts"] == 4


def test_an_empty_queue_is_asked_seldom(maximal: Synthesized) -> None:
    assert {q["receive_wait_time_seconds"] for q in maximal.all("aws_sqs_queue")} == {20}


def test_queues_are_encrypted_and_take_tls_only(maximal: Synthesized) -> None:
    for queue in maximal.all("aws_sqs_queue"):
        assert queue["sqs_managed_sse_enabled"] is True
        assert "aws:SecureTransport" in queue["policy"]


def test_the_bill_can_be_split(maximal: Synthesized) -> None:
    tags = {"gristmill:blueprint": "mill", "gristmill:team": "search-quality", "cost-center": "42"}
    for kind in ("SPOT", "EC2"):
        assert tags.items() <= environments(maximal)[kind]["compute_resources"]["tags"].items()
    for definition in maximal.all("aws_batch_job_definition"):
        assert tags.items() <= definition["tags"].items()
        assert definition["propagate_tags"] is True
