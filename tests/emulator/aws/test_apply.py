"""What is synthesized can be applied, planned again, upgraded and destroyed."""

import json
from typing import Any

import pytest

from tests.emulator.aws.apps import LENT, apps
from tests.emulator.aws.exercise import Deployed, Exercise
from tests.emulator.aws.gaps import DRIFT
from tests.emulator.aws.terraform import RENAMED

pytestmark = [pytest.mark.emulator, pytest.mark.slow]
PLATFORMS = list(apps())
Change = dict[str, Any]


def attributes(change: Change) -> set[str]:
    """Which attributes differ, or will only be known afterwards."""
    before, after = change["change"]["before"] or {}, change["change"]["after"] or {}
    unknown = change["change"].get("after_unknown", {})
    names = {*before, *after, *unknown}
    return {n for n in names if unknown.get(n) is True or before.get(n) != after.get(n)}


def changes(exercised: Exercise, edit: str) -> dict[str, Change]:
    """By the resource's address, without what the emulator gets wrong."""
    return {
        change["address"]: change
        for change in exercised.changed[edit]
        if change["change"]["actions"] != ["update"]
        or not {(change["type"], a) for a in attributes(change)} <= set(DRIFT)
    }


@pytest.fixture(params=PLATFORMS)
def deployed(request: pytest.FixtureRequest, exercised: Exercise) -> Deployed:
    return exercised.apps[request.param]


def test_every_kind_of_stack_is_valid_terraform(main: Deployed) -> None:
    assert main.diagnostics == []


def test_the_librarys_own_check_tells_valid_from_broken(exercised: Exercise) -> None:
    assert exercised.valid == [True, False]


def test_every_stack_of_two_teams_is_applied(main: Deployed) -> None:
    team = ("access", "compute", "data", "observability")
    assert set(main.applied) == {
        "gristmill-foundation",
        "gristmill-pipeline",
        "embed-corpus-schedule",
        *(f"{name}-{part}" for name in ("embed-corpus", "embed-news") for part in team),
    }
    assert all(main.applied.values())


def test_a_network_with_a_way_out_is_applied(exercised: Exercise) -> None:
    kinds = {resource["type"] for resource in exercised.apps["open-mill"].resources}
    assert kinds >= {"aws_nat_gateway", "aws_internet_gateway", "aws_eip", "aws_route"}


def test_a_guest_makes_no_network_and_no_second_input(exercised: Exercise) -> None:
    guest = exercised.apps["guest-mill"]
    assert set(guest.applied) == {
        "guest-mill-foundation",
        "embed-lent-data",
        "embed-lent-compute",
        "embed-lent-access",
    }
    kinds = {resource["type"] for resource in guest.resources}
    assert not kinds & {"aws_vpc", "aws_subnet", "aws_route_table", "aws_vpc_endpoint"}
    buckets = {r["values"]["bucket"] for r in guest.resources if r["type"] == "aws_s3_bucket"}
    assert LENT not in buckets
    assert "guest-results" in buckets


def test_what_a_guest_was_lent_stays(exercised: Exercise) -> None:
    assert exercised.apps["guest-mill"].left_alone == {
        "subnets": ["10.9.0.0/20", "10.9.16.0/20"],
        "objects": ["in/a.jsonl"],
        "buckets": [LENT],
    }


def test_a_second_plan_changes_nothing_but_what_the_emulator_gets_wrong(
    deployed: Deployed,
) -> None:
    drift = {(c["type"], a) for c in deployed.again for a in attributes(c)}
    assert drift <= set(DRIFT)
    assert all(change["change"]["actions"] == ["update"] for change in deployed.again)


def test_no_gap_is_on_the_list_that_the_emulator_has_closed(main: Deployed) -> None:
    assert set(DRIFT) <= {(c["type"], a) for c in main.again for a in attributes(c)}


def test_destroy_leaves_nothing(deployed: Deployed) -> None:
    assert deployed.left == []
    assert deployed.destroyed == len(deployed.resources) > 0


def test_more_workers_are_a_change_in_place(exercised: Exercise) -> None:
    made = exercised.changed["more-workers"]
    assert all(change["change"]["actions"] == ["update"] for change in made)
    environments = [c for c in made if c["type"] == "aws_batch_compute_environment"]
    assert {c["change"]["after"]["compute_resources"][0]["max_vcpus"] for c in environments} == {
        960
    }


@pytest.mark.parametrize("edit", ["another-gpu", "another-team"])
def test_a_fleet_that_must_be_replaced_is_made_before_the_old_one_goes(
    exercised: Exercise, edit: str
) -> None:
    replaced = {
        change["type"]: change["change"]["actions"]
        for change in changes(exercised, edit).values()
        if "delete" in change["change"]["actions"]
    }
    assert replaced == {"aws_batch_compute_environment": ["create", "delete"]}


def test_another_team_keeps_queues_logs_and_data(exercised: Exercise) -> None:
    for change in changes(exercised, "another-team").values():
        if change["type"] in ("aws_sqs_queue", "aws_cloudwatch_log_group", "aws_batch_job_queue"):
            assert change["change"]["actions"] == ["update"]


def test_another_number_of_attempts_is_a_new_revision_in_place(exercised: Exercise) -> None:
    made = changes(exercised, "fewer-attempts")
    assert {change["type"] for change in made.values()} == {
        "aws_batch_job_definition",
        "aws_sqs_queue",
    }
    assert all(change["change"]["actions"] == ["update"] for change in made.values())


def test_the_record_that_clients_read_is_one_that_they_understand(main: Deployed) -> None:
    from gristmill.contract.deployment import Deployment

    values = [r["values"] for r in main.resources if r["type"] == "aws_ssm_parameter"]
    records = {v["name"]: Deployment.model_validate(json.loads(v["value"])) for v in values}
    record = records["/gristmill/embed-corpus"]
    assert record.worker.arn.endswith("job-definition/embed-corpus-worker:1")
    assert record.work_queue.endswith("/111122223333/embed-corpus-work")
    assert record.coordinator is not None
    assert records["/gristmill/embed-news"].coordinator is None


def test_one_attribute_tells_provider_6_from_provider_5() -> None:
    assert RENAMED == {
        "aws_batch_compute_environment": {"name_prefix": "compute_environment_name_prefix"}
    }
