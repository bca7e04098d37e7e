from typing import Any

import pytest

from gristmill.contract.run import POLICY, Policy, RunSpec
from tests.doubles.mill import blueprint


def spec(**changed: Any) -> RunSpec:
    plain: dict[str, Any] = {
        "run": "r",
        "blueprint": blueprint(),
        "model_revision": "m",
        "listing": "l",
        "gristmill": "1",
    }
    return RunSpec(**plain | changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"run": "other"},
        {"gristmill": "2"},
        {"blueprint": blueprint(team="search")},
        {"blueprint": blueprint(errors={"max_failed_fraction": 0.5})},
        {"blueprint": blueprint(capacity={"max_workers": 9, "usd_per_hour": 3})},
        {"blueprint": blueprint(deadline="6h", budget={"max_usd": 5})},
        {"blueprint": blueprint(schedule={"cron": "0 2 * * ? *"})},
    ],
)
def test_what_decides_no_result_is_not_in_the_identity(changed: dict[str, Any]) -> None:
    assert spec(**changed).identity() == spec().identity()
    assert spec().differences(spec(**changed)) == []


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"model_revision": "n"}, "model_revision: the run has 'm', you gave 'n'"),
        ({"image": "sha256:1"}, "image: the run has None, you gave 'sha256:1'"),
        ({"limit": 10}, "limit: the run has None, you gave 10"),
        ({"listing": "k"}, "listing: the run has 'l', you gave 'k'"),
        ({"blueprint": blueprint(seed=1)}, "seed: the run has 0, you gave 1"),
        (
            {"blueprint": blueprint(part={"records": 9})},
            "part.records: the run has 8, you gave 9",
        ),
        (
            {"blueprint": blueprint({"max_tokens": 5})},
            "task.engine.max_tokens: the run has None, you gave 5",
        ),
    ],
)
def test_what_decides_results_is_in_the_identity_and_named(
    changed: dict[str, Any], sentence: str
) -> None:
    assert spec(**changed).identity() != spec().identity()
    assert spec().differences(spec(**changed)) == [sentence]


def test_a_section_that_only_one_has_is_named_key_by_key() -> None:
    faulty = spec(blueprint=blueprint({"faults": {"die_after_batches": 3}}))
    assert "task.engine.faults.die_after_batches: the run has None, you gave 3" in (
        spec().differences(faulty)
    )


def test_the_policy_is_the_part_of_the_blueprint_that_may_change() -> None:
    chosen = blueprint(errors={"max_failed_records": 3}, deadline="1h", budget={"max_usd": 2})
    policy = Policy.of(chosen)
    assert policy.errors.max_failed_records == 3
    assert policy.deadline == 3600
    assert policy.budget is not None
    assert set(Policy.model_fields) < set(POLICY)
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


def test_a_spec_comes_back_with_its_identity() -> None:
    assert RunSpec.model_validate_json(spec().model_dump_json()).identity() == spec().identity()
