from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

GROUP = "aws_security_group"
RULE = "aws_vpc_security_group_ingress_rule"


def group(ingress: Any) -> Trees:
    return several(team_foundation={GROUP: {"it": {"ingress": ingress}}, "aws_vpc": {"vpc": {}}})


def plant(trees: Trees) -> None:
    for rule in of_type(trees, RULE):
        rule["cidr_ipv4"] = "0.0.0.0/0"


CASES = Cases(
    judged=f"{GROUP}.it",
    passes=[
        one(GROUP),
        group({"cidr_blocks": ["10.0.0.0/8"], "from_port": 443}),
        group([{"security_groups": ["sg-0123"]}]),
        group([{"cidr_blocks": ["${aws_vpc.vpc.cidr_block}"]}]),
    ],
    fails=[
        group({"cidr_blocks": ["10.0.0.0/8", "0.0.0.0/0"]}),
        group([{"ipv6_cidr_blocks": ["::/0"]}]),
        group([{"ipv6_cidr_blocks": "0::0/0"}]),
    ],
    cannot_tell=[
        group({"cidr_blocks": ["${var.cidr}"]}),
        group({"cidr_blocks": "${var.cidrs}"}),
        group({"cidr_blocks": ["everywhere"]}),
        group("${local.ingress}"),
    ],
    plant=plant,
)
