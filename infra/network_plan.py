"""Which AWS services private machines must reach, and the addresses of their subnets."""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any, Final

from infra.team import Team

MACHINES: Final = ("ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr", "logs", "sqs")
"""The container agent, the image, the log lines, the work queue."""
COORDINATOR: Final = ("batch", "ssm")
"""Submitting workers and reading the deployment: there is one only where a schedule starts runs."""


def interface_endpoints(teams: Sequence[Team]) -> tuple[str, ...]:
    scheduled = any(team.blueprint.schedule is not None for team in teams)
    return MACHINES + (COORDINATOR if scheduled else ())


def subnet_cidrs(cidr: str, count: int) -> tuple[str, ...]:
    """The first `count` quarters of a network, each for one zone; the last is for public ones."""
    quarters = ipaddress.ip_network(cidr).subnets(prefixlen_diff=2)
    return tuple(str(quarter) for quarter, _ in zip(quarters, range(count), strict=False))


def public_cidr(cidr: str) -> str:
    *_, last = ipaddress.ip_network(cidr).subnets(prefixlen_diff=2)
    return str(next(last.subnets(new_prefix=28)))


def storage_policy(account: str, region: str, buckets: Iterable[str]) -> list[dict[str, Any]]:
    """Through the way to S3: the teams' buckets, and the layers of ECR's images."""
    names = sorted(set(buckets))
    return [
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListBucket"],
            "Resource": [
                arn for name in names for arn in (f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*")
            ],
            "Condition": {"StringEquals": {"aws:PrincipalAccount": account}},
        },
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": ["s3:GetObject"],
            "Resource": [f"arn:aws:s3:::prod-{region}-starport-layer-bucket/*"],
        },
    ]


def account_policy(account: str) -> list[dict[str, Any]]:
    """Through an interface endpoint: anything, asked by this account."""
    return [
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "*",
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:PrincipalAccount": account}},
        }
    ]
