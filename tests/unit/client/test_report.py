import pytest

from gristmill.client.report import cost
from gristmill.contract.manifest import AttemptReport


def attempt(seconds: float, share: float = 1.0) -> AttemptReport:
    return AttemptReport(
        attempt="a",
        host="h",
        pid=1,
        started_at=0,
        updated_at=0,
        seconds=seconds,
        machine_share=share,
    )


def test_cost_is_of_machines_not_of_the_workers_that_share_them() -> None:
    shared = tuple(attempt(1800, 0.5) for _ in range(2))
    assert cost(shared, 4.0) == pytest.approx(2.0)
    assert cost((attempt(1800), attempt(1800)), 4.0) == pytest.approx(4.0)


def test_without_a_price_the_cost_is_unknown() -> None:
    assert cost((attempt(60),), None) is None
    assert cost((), 4.0) == 0
