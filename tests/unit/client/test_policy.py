import pytest

from gristmill.client.policy import changed_policy
from gristmill.contract.errors import ConfigError, SpecMismatchError
from tests.doubles.mill import blueprint


def test_what_may_change_is_changed_and_the_rest_kept() -> None:
    given = blueprint(errors={"max_failed_records": 3}, deadline="1h")
    policy = changed_policy(given, ("errors.max_failed_fraction=0.5", "budget.max_usd=9"))
    assert policy.errors.max_failed_fraction == 0.5
    assert policy.errors.max_failed_records == 3
    assert policy.deadline == 3600
    assert policy.budget is not None
    assert policy.budget.max_usd == 9


def test_nothing_changed_is_the_policy_of_the_run() -> None:
    given = blueprint(capacity={"usd_per_hour": 2})
    assert changed_policy(given, ()).capacity == given.capacity


@pytest.mark.parametrize("key", ["part.records=5", "input.uri=x", "seed=1", "name=x"])
def test_what_decides_results_is_refused(key: str) -> None:
    with pytest.raises(SpecMismatchError, match=rf"^--set {key}: .* decides the results.*errors"):
        changed_policy(blueprint(), (key,))


def test_a_wrong_value_is_named() -> None:
    with pytest.raises(ConfigError, match=r"errors\.max_failed_fraction: got 7, must be 0 to 1"):
        changed_policy(blueprint(), ("errors.max_failed_fraction=7",))


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="error: unknown key; did you mean errors"):
        changed_policy(blueprint(), ("error.max_failed_fraction=1",))
