"""What is synthesized can be applied, planned again, upgraded and destroyed."""

import json
from typing import Any

import pytest

from tests.emulator.aws.exercise import Exercise
from tests.emulator.aws.gaps import DRIFT
from tests.emulator.aws.terraform import RENAMED

pytestmark = [pytest.mark.emulator, pytest.mark.slow]
Change = dict[str, Any]


def attributes(change: Change) -> set[str]:
    """Which attributes differ, or will only be known afterwards."""
    before, after = change["change"]["before"] or {}, change["change"]["after"] or {}
    unknown = change["change"].get("after_unknown", {})
    names = {*before, *after, *unknown}
    return {n for n in names if unknown.get(n) is True or before.get(n) != after.get(n)}


def changes(exercised: Exercise, edit: str) -> dict[str, Change]:
    """By the resource's construct, without what the emulator gets wrong."""
    return {
        change["address"]: change
        for change in exercised.changed[edit]
        if change["change"]["actions"] != ["update"]
        or not {(change["type"], a) for a in attributes(change)} <= set(DRIFT)
    }


def test_every_stack_is_valid_terraform(exercised: Exercise) -> None:
    assert exercised.diagnostics == []


def test_every_stack_is_applied(exercised: Exercise) -> None:
    assert {stack.rpartition("-")[2] for stack in exercised.applied} == {
        "access",
        "compute",
        "data",
        "foundation",
        "observability",
        "pipeline",
        "schedule",
    }
    assert all(exercised.applied.values())


def test_a_second_plan_changes_nothing_but_what_the_emulator_gets_wrong(
    exercised: Exercise,
) -> None:
    drift = {(c["type"], a) for c in exercised.again for a in attributes(c)}
    assert drift <= set(DRIFT)
    assert all(change["change"]["actions"] == ["update"] for change in exercised.again)


def test_no_gap_is_on_the_list_that_the_emulator_has_closed(exercised: Exercise) -> None:
    assert set(DRIFT) <= {(c["type"], a) for c in exercised.again for a in attributes(c)}


def test_destroy_leaves_nothing(exercised: Exercise) -> None:
    assert exercised.left == []
    assert exercised.destroyed == len(exercised.resources)


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


def test_the_record_that_clients_read_is_one_that_they_understand(exercised: Exercise) -> None:
    from gristmill.contract.deployment import Deployment

    (parameter,) = (r for r in exercised.resources if r["type"] == "aws_ssm_parameter")
    record = Deployment.model_validate(json.loads(parameter["values"]["value"]))
    assert record.worker.arn.endswith("job-definition/embed-corpus-worker:1")
    assert record.work_queue.endswith("/111122223333/embed-corpus-work")


def test_one_attribute_tells_provider_6_from_provider_5() -> None:
    assert RENAMED == {
        "aws_batch_compute_environment": {"name_prefix": "compute_environment_name_prefix"}
    }
