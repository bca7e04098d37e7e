"""What a deployment costs a month while nothing runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gristmill.contract.platform import CreateNetwork, Platform
from infra.network_plan import interface_endpoints
from infra.team import Team

LISTED_ON: Final = "2026-01"
LISTED_IN: Final = "AWS list prices of us-east-1: PrivateLink, VPC, KMS, CloudWatch"
HOURS: Final = 730
ENDPOINT_HOUR: Final = 0.01
NAT_HOUR: Final = 0.045
PUBLIC_ADDRESS_HOUR: Final = 0.005
KEY_MONTH: Final = 1.00
ALARM_MONTH: Final = 0.10
DASHBOARD_MONTH: Final = 3.00
ALARMS_A_TEAM: Final = 3


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
    """Of what one blueprint has for itself. No machine: the queues scale to none."""
    return (
        IdleItem("1 key", KEY_MONTH),
        IdleItem("1 dashboard", DASHBOARD_MONTH),
        IdleItem(f"{ALARMS_A_TEAM} alarms", ALARMS_A_TEAM * ALARM_MONTH),
    )


def idle_report(platform: Platform, teams: Sequence[Team]) -> str:
    """For a person: what, how much, in all."""
    shared = shared_idle(platform, teams)
    groups = [(f"{platform.name} (shared)", shared), *((t.name, team_idle(t)) for t in teams)]
    lines = [f"Idle cost a month ({LISTED_IN}, {LISTED_ON}; storage and traffic not counted):"]
    for name, items in groups:
        lines.append(f"  {name}: ${sum(item.usd for item in items):.2f}")
        lines += [f"    {item.usd:8.2f}  {item.what}" for item in items]
    total = sum(item.usd for _, items in groups for item in items)
    lines.append(f"  in all: ${total:.2f}")
    return "\n".join(lines)
