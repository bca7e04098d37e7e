"""What a deployment costs a month while nothing runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gristmill.contract.platform import CreateNetwork, Platform
from infra.network_plan import interface_endpoints
from infra.team import Team

LISTED_ON: Final = "2026-06"
LISTED_IN: Final = "list prices of us-east-1: PrivateLink, VPC, KMS, CloudWatch"
"""Each looked up in accounts of AWS's price pages: NAT and addresses of 2026-02, KMS of 2026-03,
PrivateLink of 2026-05, CloudWatch of 2026-06."""
HOURS: Final = 730
ENDPOINT_HOUR: Final = 0.01
NAT_HOUR: Final = 0.045
PUBLIC_ADDRESS_HOUR: Final = 0.005
KEY_MONTH: Final = 1.00
"""In its first year: each of a key's first two rotations, one a year, adds as much."""
ALARM_METRIC_MONTH: Final = 0.10
"""An alarm over several metrics pays for each."""
DASHBOARD_MONTH: Final = 3.00
ALARM_METRICS_A_TEAM: Final = 5


@dataclass(frozen=True, slots=True)
class IdleItem:
    what: str
    usd: float


def shared_idle(platform: Platform, teams: Sequence[Team]) -> tuple[IdleItem, ...]:
    """Of what all teams share."""
    items = [IdleItem("1 key", KEY_MONTH)]
    network = platform.network
    if isinstance(network, CreateNetwork) and network.egress == "nat":
        items.append(
            IdleItem("1 NAT gateway with its address", (NAT_HOUR + PUBLIC_ADDRESS_HOUR) * HOURS)
        )
    elif isinstance(network, CreateNetwork):
        services, zones = interface_endpoints(teams), platform.zones
        items.append(
            IdleItem(
                f"{len(services)} interface endpoints in {len(zones)} zones "
                f"({', '.join(services)})",
                len(services) * len(zones) * ENDPOINT_HOUR * HOURS,
            )
        )
    return tuple(items)


def team_idle(_: Team) -> tuple[IdleItem, ...]:
    """Of what one blueprint has for itself.

    No machine, for the queues scale to none. No metric of ours: one is paid for in hours with data.
    A budget that only tells costs nothing.
    """
    return (
        IdleItem("1 key", KEY_MONTH),
        IdleItem("1 dashboard", DASHBOARD_MONTH),
        IdleItem(
            f"alarms over {ALARM_METRICS_A_TEAM} metrics", ALARM_METRICS_A_TEAM * ALARM_METRIC_MONTH
        ),
    )


def idle_report(platform: Platform, teams: Sequence[Team]) -> str:
    """For a person: what, how much, in all."""
    shared = shared_idle(platform, teams)
    groups = [(f"{platform.name} (shared)", shared), *((t.name, team_idle(t)) for t in teams)]
    lines = [
        f"Idle cost a month ({LISTED_IN}, {LISTED_ON}; storage, logs and traffic not counted):"
    ]
    for name, items in groups:
        lines.append(f"  {name}: ${sum(item.usd for item in items):.2f}")
        lines += [f"    {item.usd:8.2f}  {item.what}" for item in items]
    total = sum(item.usd for _, items in groups for item in items)
    lines.append(f"  in all: ${total:.2f}")
    return "\n".join(lines)
