"""Three networks: closed, with a way out, and somebody else's."""

import json
from pathlib import Path
from typing import Any

import pytest

from infra.team import resolve
from tests.unit.infra.choices import blueprint, platform
from tests.unit.infra.synthesized import Synthesized, synthesized

EXISTING = {
    "kind": "existing",
    "vpc": "vpc-0a",
    "subnets": ["subnet-0a", "subnet-0b"],
    "cidr": "10.0.0.0/16",
}


def synthesize(out: Path, network: dict[str, Any]) -> Synthesized:
    where = platform(network=network)
    return synthesized(out, where, resolve(where, [("blueprint.yaml", blueprint())]))


@pytest.fixture(scope="module")
def with_nat(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return synthesize(tmp_path_factory.mktemp("nat"), {"kind": "create", "egress": "nat"})


@pytest.fixture(scope="module")
def existing(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return synthesize(tmp_path_factory.mktemp("existing"), EXISTING)


def services(stacks: Synthesized) -> set[str]:
    return {e["service_name"].split(".", 3)[3] for e in stacks.all("aws_vpc_endpoint")}


def test_a_closed_network_has_no_way_out(minimal: Synthesized) -> None:
    assert not minimal.kinds() & {"aws_nat_gateway", "aws_internet_gateway", "aws_route", "aws_eip"}
    for rule in minimal.all("aws_vpc_security_group_egress_rule"):
        assert rule.get("cidr_ipv4", "10.42.0.0/20") == "10.42.0.0/20"


def test_only_endpoints_in_use_are_paid_for(minimal: Synthesized, maximal: Synthesized) -> None:
    machines = {"s3", "ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr", "logs", "sqs"}
    assert services(minimal) == machines
    assert services(maximal) == machines | {"batch", "ssm"}


def test_subnets_are_private_and_one_a_zone(minimal: Synthesized, maximal: Synthesized) -> None:
    for stacks, count in ((minimal, 2), (maximal, 3)):
        subnets = stacks.all("aws_subnet")
        assert len({s["availability_zone"] for s in subnets}) == len(subnets) == count
        assert not any(s["map_public_ip_on_launch"] for s in subnets)


def test_the_way_to_s3_leads_to_the_teams_buckets(minimal: Synthesized) -> None:
    (endpoint,) = (e for e in minimal.all("aws_vpc_endpoint") if e["service_name"].endswith("s3"))
    assert endpoint["vpc_endpoint_type"] == "Gateway"
    ours, layers = json.loads(endpoint["policy"])["Statement"]
    assert "arn:aws:s3:::grain/*" in ours["Resource"]
    assert layers["Action"] == ["s3:GetObject"]
    assert layers["Resource"] == ["arn:aws:s3:::prod-us-east-1-starport-layer-bucket/*"]


def test_endpoints_answer_this_account_only(minimal: Synthesized) -> None:
    for endpoint in minimal.all("aws_vpc_endpoint"):
        assert '"aws:PrincipalAccount":"111122223333"' in endpoint["policy"]


def test_the_default_group_is_closed_and_refused_flows_are_kept(minimal: Synthesized) -> None:
    default = minimal.one("aws_default_security_group")
    assert not default.keys() & {"ingress", "egress"}
    assert minimal.one("aws_flow_log")["traffic_type"] == "REJECT"


def test_a_way_out_replaces_the_interface_endpoints(with_nat: Synthesized) -> None:
    assert services(with_nat) == {"s3"}
    assert with_nat.one("aws_nat_gateway")
    rule = with_nat.one("aws_vpc_security_group_egress_rule")
    assert (rule["cidr_ipv4"], rule["from_port"], rule["to_port"]) == ("0.0.0.0/0", 443, 443)
    assert not with_nat.all("aws_vpc_security_group_ingress_rule")


def test_models_are_pulled_from_a_hub_only_with_a_way_out(
    minimal: Synthesized, with_nat: Synthesized
) -> None:
    def names(stacks: Synthesized) -> set[str]:
        return {e["name"] for e in stacks.container("mill-worker")["environment"]}

    assert "HF_HUB_OFFLINE" in names(minimal)
    assert "HF_HUB_OFFLINE" not in names(with_nat)


def test_somebody_elses_network_gets_a_security_group_alone(existing: Synthesized) -> None:
    assert not existing.kinds() & {"aws_vpc", "aws_subnet", "aws_vpc_endpoint", "aws_flow_log"}
    for environment in existing.all("aws_batch_compute_environment"):
        assert environment["compute_resources"]["subnets"] == ["subnet-0a", "subnet-0b"]
