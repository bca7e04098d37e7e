"""Machines have no way to the internet unless the platform asks for one."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource, literal

NAT: Final = "aws_nat_gateway"


class NetworkNoNat(Check):
    title = "A network has a way to the internet only where platform.yaml asks for one"
    risk = "Data can leave to anywhere, and a NAT gateway costs money while nothing runs."
    remedy = (
        "Remove the gateway from infra/constructs/private_network.py, or choose network.egress: "
        "nat in platform.yaml."
    )
    source = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway.html"
    resources = (NAT, "aws_internet_gateway", "aws_egress_only_internet_gateway")

    def faults(self, resource: Resource) -> Iterator[str]:
        # A private one leads to other networks of ours and not out.
        kind = literal(resource.conf.get("connectivity_type", "public"), "connectivity_type")
        if resource.type == NAT and kind == "private":
            return
        egress = resource.app.choices.get("egress")
        if egress is None:
            raise CannotTellError("what network.egress of platform.yaml is, is not known here")
        if egress != "nat":
            yield f"there is this {resource.type}, but network.egress of platform.yaml is {egress}"
