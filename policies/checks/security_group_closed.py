"""Nothing comes in from everywhere."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource, Stack, literal

GROUP: Final = "aws_security_group"
RULE: Final = "aws_security_group_rule"
WIDE: Final = 8
"""Two halves of the internet are all of it: no range is shorter than the largest private one."""
_RANGES: Final = ("cidr_ipv4", "cidr_ipv6", "cidr_blocks", "ipv6_cidr_blocks")


class SecurityGroupClosed(Check):
    title = "No security group lets anything in from everywhere"
    risk = "Whoever finds the machine's address can talk to it."
    remedy = (
        "Let in nothing but the network's own addresses or another group, in "
        "infra/constructs/private_network.py."
    )
    source = "https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html"
    resources = (GROUP, RULE, "aws_vpc_security_group_ingress_rule")

    def faults(self, resource: Resource) -> Iterator[str]:
        if resource.type == GROUP:
            for ingress in resource.blocks("ingress"):
                yield from _open(ingress, "ingress.", resource.stack)
        elif resource.type != RULE or literal(resource.conf.get("type"), "type") != "egress":
            yield from _open(resource.conf, "", resource.stack)


def _open(rule: Mapping[str, Any], before: str, stack: Stack) -> Iterator[str]:
    for name in _RANGES:
        value = rule.get(name)
        for range_ in value if isinstance(value, list) else [value]:
            if range_ is not None and _is_everywhere(range_, f"{before}{name}", stack):
                yield f"{before}{name} is {range_}"


def _is_everywhere(range_: object, what: str, stack: Stack) -> bool:
    network = stack.app.target(range_, stack)
    if network is not None and network.type in ("aws_vpc", "aws_subnet"):
        return False
    try:
        return ipaddress.ip_network(str(literal(range_, what)), strict=False).prefixlen < WIDE
    except ValueError:
        raise CannotTellError(f"{what} is {range_!r}, no range of addresses") from None
