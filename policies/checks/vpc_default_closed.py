"""Whoever names no security group gets one that lets nothing through."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.stack import Resource


class VpcDefaultClosed(Check):
    title = "A network's default security group lets nothing in or out"
    risk = "What is started without a group talks to everything else that was."
    remedy = (
        "Adopt it as an aws_default_security_group without ingress and egress, as "
        "infra/constructs/private_network.py does."
    )
    source = "https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html"
    resources = ("aws_vpc",)

    def faults(self, resource: Resource) -> Iterator[str]:
        found = companions(resource, "aws_default_security_group", "vpc_id")
        if not found:
            yield "there is no aws_default_security_group, so that AWS's open one stays"
        for group in found:
            for direction in ("ingress", "egress"):
                if group.blocks(direction):
                    yield f"{group.path} has {direction} rules"
