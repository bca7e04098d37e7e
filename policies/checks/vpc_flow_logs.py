"""Refused connections are written down."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.stack import Resource, literal

KEPT: Final = ("REJECT", "ALL")
"""What shows refused connections. Accepted ones are many, and each is paid for."""


class VpcFlowLogs(Check):
    title = "A network's refused connections are written down"
    risk = "Nobody sees that a machine tries to get out, or that somebody tries to get in."
    remedy = (
        "Give the network an aws_flow_log of traffic_type REJECT or ALL: call log_flows of "
        "infra/constructs/private_network.py."
    )
    source = "https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html"
    resources = ("aws_vpc",)

    def faults(self, resource: Resource) -> Iterator[str]:
        logs = companions(resource, "aws_flow_log", "vpc_id")
        kinds = [literal(log.conf.get("traffic_type"), "traffic_type") for log in logs]
        if not logs:
            yield "there is no aws_flow_log of it"
        elif not any(kind in KEPT for kind in kinds):
            yield f"traffic_type is {kinds[0]}, must be one of {', '.join(KEPT)}"
