"""Machines get no public address."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.stack import Resource
from policies.reading.value import truth


class SubnetPrivate(Check):
    title = "A subnet gives machines no public address, unless a NAT gateway stands in it"
    risk = "Each machine can be reached from the internet, and reaches it."
    remedy = "Set map_public_ip_on_launch to false in infra/constructs/private_network.py."
    source = "https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html"
    resources = ("aws_subnet",)

    def faults(self, resource: Resource) -> Iterator[str]:
        public = resource.conf.get("map_public_ip_on_launch")
        if truth(public, "map_public_ip_on_launch") and not companions(
            resource, "aws_nat_gateway", "subnet_id"
        ):
            yield f"map_public_ip_on_launch is {public}, must be false"
