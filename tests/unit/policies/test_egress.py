"""What cases of one type and one platform can't try: ways out, and rules of the other types."""

from collections.abc import Mapping
from typing import Any

import pytest

from policies.check import SHARED, Answer, load_checks
from policies.reading.stack import App
from tests.unit.policies.case import one

CHECKS = {loaded.file.stem: loaded for loaded in load_checks(SHARED)}
WAYS_OUT = ("aws_nat_gateway", "aws_internet_gateway", "aws_egress_only_internet_gateway")
RULES = ("aws_security_group_rule", "aws_vpc_security_group_ingress_rule")


def answer(name: str, type_: str, choices: Mapping[str, Any] | None = None, **conf: Any) -> Answer:
    (resource,) = App.of(one(type_, **conf), choices).resources(type_)
    return CHECKS[name].verdict(resource).answer


@pytest.mark.parametrize("type_", WAYS_OUT)
def test_a_way_out_must_be_asked_for(type_: str) -> None:
    assert answer("network_no_nat", type_, {"egress": "nat"}) == "pass"
    assert answer("network_no_nat", type_, {"egress": "none"}) == "fail"
    assert answer("network_no_nat", type_) == "cannot tell"


@pytest.mark.parametrize("type_", RULES)
@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ({"cidr_ipv4": "0.0.0.0/0"}, "fail"),
        ({"cidr_blocks": ["::/0"]}, "fail"),
        ({"cidr_ipv6": "fd00::/8"}, "pass"),
        ({"cidr_ipv4": "${var.cidr}"}, "cannot tell"),
    ],
)
def test_a_rule_lets_nobody_in_from_everywhere(
    type_: str, conf: dict[str, Any], expected: Answer
) -> None:
    assert answer("security_group_closed", type_, type="ingress", **conf) == expected


def test_a_rule_may_let_machines_out() -> None:
    conf = {"type": "egress", "cidr_blocks": ["0.0.0.0/0"]}
    assert answer("security_group_closed", "aws_security_group_rule", **conf) == "pass"
