"""What resting costs is said before anyone pays it."""

from pathlib import Path

import pytest

from gristmill.contract.load import deployable_blueprints, load_platform
from infra.idle import (
    ALARM_METRICS_A_TEAM,
    KEY_MONTH,
    LISTED_IN,
    LISTED_ON,
    idle_report,
    shared_idle,
)
from infra.team import resolve
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
    assert report.splitlines()[-1] == "  in all: $136.90"


def test_every_metric_under_an_alarm_is_counted(maximal: Synthesized) -> None:
    alarms = maximal.all("aws_cloudwatch_metric_alarm")
    watched = [query for alarm in alarms for query in alarm["metric_query"] if "metric" in query]
    assert len(watched) == ALARM_METRICS_A_TEAM


def test_no_resource_that_is_paid_for_at_rest_is_left_out(maximal: Synthesized) -> None:
    paid = maximal.kinds() & {
        "aws_cloudwatch_dashboard", "aws_cloudwatch_metric_alarm", "aws_db_instance", "aws_eip",
        "aws_instance", "aws_kms_key", "aws_lb", "aws_nat_gateway", "aws_secretsmanager_secret",
        "aws_vpc_endpoint",
    }  # fmt: skip
    assert paid == {
        "aws_cloudwatch_dashboard", "aws_cloudwatch_metric_alarm", "aws_kms_key", "aws_vpc_endpoint"
    }  # fmt: skip


def test_a_metric_of_ours_has_no_value_while_nothing_runs(maximal: Synthesized) -> None:
    filters = maximal.all("aws_cloudwatch_log_metric_filter")
    assert filters
    assert not [f for f in filters if "default_value" in f["metric_transformation"]]


def test_the_page_on_idling_shows_what_synthesis_prints() -> None:
    page = Path("docs/how-to/deploy-idle-cost.md").read_text()
    for path, chosen in deployable_blueprints(None):
        where = load_platform(Path("platform.example.yaml"))
        report = idle_report(where, resolve(where, [(path, chosen)]))
        assert f"```text\n{report}\n```" in page


@pytest.mark.parametrize(
    ("choice", "network"),
    [
        ("closed, 3 zones, no schedule", {"zones": ["us-east-1a", "us-east-1b", "us-east-1c"]}),
        ("closed, 2 zones, no schedule", {}),
        ("`egress: nat`", {"egress": "nat"}),
    ],
)
def test_the_page_on_idling_has_the_price_of_each_choice(
    choice: str, network: dict[str, object]
) -> None:
    page = Path("docs/how-to/deploy-idle-cost.md").read_text()
    assert f"| {choice} | {usd(**network) - KEY_MONTH:.2f} " in page
