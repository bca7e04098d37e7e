"""What resting costs is said before anyone pays it."""

from infra.idle import ALARMS_A_TEAM, LISTED_IN, LISTED_ON, idle_report, shared_idle
from tests.unit.infra.choices import blueprint, maximal_blueprint, platform, team
from tests.unit.infra.synthesized import Synthesized


def usd(**network: object) -> float:
    where = platform(network={"kind": "create", **network})
    return sum(item.usd for item in shared_idle(where, [team(blueprint(), where)]))


def test_each_endpoint_costs_in_each_zone() -> None:
    two, three = usd(), usd(zones=["us-east-1a", "us-east-1b", "us-east-1c"])
    assert round(two, 2) == round(1 + 7 * 2 * 0.01 * 730, 2)
    assert round(three - two, 2) == round(7 * 0.01 * 730, 2)


def test_a_nat_gateway_costs_instead_of_endpoints() -> None:
    assert round(usd(egress="nat"), 2) == round(1 + 0.05 * 730, 2)


def test_the_report_says_what_how_much_and_from_when() -> None:
    where = platform()
    report = idle_report(where, [team(maximal_blueprint(), where)])
    assert LISTED_IN in report
    assert LISTED_ON in report
    assert "9 interface endpoints in 2 zones" in report
    assert report.splitlines()[-1] == "  in all: $136.70"


def test_every_alarm_is_counted(maximal: Synthesized) -> None:
    assert len(maximal.all("aws_cloudwatch_metric_alarm")) == ALARMS_A_TEAM
