"""Refusals before anything is synthesized, each for the one who must act."""

import re
from typing import Any

import pytest

from gristmill.contract.errors import ConfigError
from infra.team import resolve
from tests.unit.infra.choices import blueprint, maximal_blueprint, platform, team

CAPACITY: dict[str, Any] = {"gpus": ["L4"], "on_demand": {}}


def refusal(*blueprints: Any, **settings: Any) -> str:
    with pytest.raises(ConfigError) as refused:
        resolve(platform(**settings), [(f"{n}.yaml", b) for n, b in enumerate(blueprints)])
    return str(refused.value)


@pytest.mark.parametrize(
    ("capacity", "said"),
    [
        (
            {"gpus": ["L5"]},
            r"0.yaml: capacity.gpus.0: got 'L5', must be one of L4, A10G, .*mean L4",
        ),
        ({"gpus": ["L4", "MI210"]}, r"capacity.gpus.1: got 'MI210', which no AWS .* Kubernetes"),
        ({"gpus": []}, r"capacity.gpus: is missing; name the GPUs"),
        ({"on_demand": None}, r"capacity: names neither spot nor on_demand; add"),
    ],
)
def test_capacity_that_aws_can_not_give_is_refused(capacity: dict[str, Any], said: str) -> None:
    assert re.search(said, refusal(blueprint(capacity={**CAPACITY, **capacity})))


def test_a_region_without_the_machine_is_refused_with_those_that_have_it() -> None:
    said = refusal(blueprint(capacity={**CAPACITY, "gpus": ["L40S"]}), region="eu-west-1")
    assert "got 'L40S', which eu-west-1 does not offer" in said
    assert "eu-central-1" in said


def test_a_name_too_long_for_a_bucket_is_refused_with_the_limit() -> None:
    said = refusal(blueprint(name="m" * 40))
    assert "name: got 'mmm" in said
    assert "40 characters, must be at most 33" in said


def test_local_places_are_refused() -> None:
    said = refusal(blueprint(input={"uri": "/data/in/", "format": {"kind": "jsonl"}}))
    assert "input.uri: got '/data/in/', must be s3://bucket/prefix" in said


def test_two_blueprints_of_one_name_are_refused() -> None:
    said = refusal(blueprint(), blueprint())
    assert "1.yaml: name: got 'mill', which 0.yaml has too" in said


def test_a_bucket_is_made_once() -> None:
    other = blueprint(name="other", output={"uri": "s3://meal/"})
    assert "other: bucket grain would be made by mill too" in refusal(blueprint(), other)


def test_two_writers_of_one_prefix_are_refused() -> None:
    other = blueprint(
        name="other",
        input={"uri": "s3://rye/", "format": {"kind": "jsonl"}},
        output={"uri": "s3://flour/out/rye/"},
    )
    said = refusal(blueprint(), other, existing_buckets={"flour": {}})
    assert "output.uri: s3://flour/out/rye/ overlaps with s3://flour/out/" in said


def test_nothing_to_deploy_is_said() -> None:
    assert "no blueprint names capacity.gpus" in refusal()


def test_every_fault_is_told_at_once() -> None:
    broken = blueprint(capacity={"gpus": ["MI210"], "on_demand": {}})
    assert len(refusal(broken, blueprint(name="m" * 40)).splitlines()) == 2


def test_every_machine_of_the_list_has_room_for_a_worker() -> None:
    shape = team(maximal_blueprint()).worker
    assert all(machine.vcpus_per_gpu >= shape.vcpus for machine in shape.machines)
    assert all(machine.memory_mib_per_gpu > shape.memory_mib for machine in shape.machines)
    assert shape.memory_mib == 15_000
    assert shape.max_vcpus == 40 * 12


def test_spot_comes_before_on_demand() -> None:
    assert team(maximal_blueprint()).purchase == ("SPOT", "EC2")
    assert team().purchase == ("EC2",)


def test_what_a_blueprint_leaves_open_has_a_default() -> None:
    plain = team()
    assert plain.team == plain.name == "mill"
    assert plain.timeout_seconds == 86_400
    assert plain.output.uri == "s3://flour/out/"
    assert plain.runs.bucket == "mill-runs-111122223333-us-east-1"


def test_a_share_identifier_is_letters_and_digits() -> None:
    assert team(maximal_blueprint()).share == "searchquality"


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        ("gristmill/worker", "gristmill/worker"),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/mine", "mine"),
        ("ghcr.io/owner/worker", None),
    ],
)
def test_only_this_accounts_repository_is_granted(image: str, repository: str | None) -> None:
    where = platform(image=f"{image}@sha256:{'0' * 64}")
    assert team(where=where).repository == repository
