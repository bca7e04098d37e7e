"""What is deployed in the exercise: three platforms, each in an account of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import boto3

from gristmill.contract.load import load_blueprint
from gristmill.contract.platform import Platform
from infra.team import resolve
from tests.emulator.aws.environment import ROOT
from tests.emulator.aws.exercise import App
from tests.unit.infra.choices import maximal_platform, platform

BLUEPRINT: Final = ROOT / "blueprints" / "embed-corpus" / "blueprint.yaml"
REGION: Final = "us-east-1"
CLOSED, OPEN, BORROWED = "111122223333", "222233334444", "333344445555"
"""Accounts: with a network that has no way out, one that has, and somebody else's."""
OTHER_TEAM: Final = (
    "name=embed-news",
    "team=news",
    "input.uri=s3://your-news/in/",
    "output.uri=s3://your-news/out/{run}",
    "schedule=null",
    "budget=null",
    "capacity.spot=null",
)
LENT: Final = "lent-corpus"
"""A bucket that was there before."""
LOCAL: Final[dict[str, Any]] = {"state": {"kind": "local"}, "protect": False}


def apps() -> dict[str, App]:
    """By platform. The first has two teams, and everything that can be chosen."""
    return {
        "gristmill": App(CLOSED, two_teams),
        "open-mill": App(OPEN, with_nat, frozenset({"foundation"})),
        "guest-mill": App(
            BORROWED,
            as_guest,
            frozenset({"foundation", "data", "compute", "access"}),
            left_alone=lent,
        ),
    }


def edits() -> dict[str, Callable[[Path, str], None]]:
    """Other choices for the first blueprint of the first platform."""
    return {
        "more-workers": _edit("capacity.max_workers=80"),
        "another-gpu": _edit("capacity.gpus=[L40S]"),
        "another-team": _edit("team=ranking"),
        "fewer-attempts": _edit("capacity.attempts=3"),
    }


def two_teams(out: Path, _: str) -> None:
    _synthesize(out, _maximal(), (), OTHER_TEAM)


def with_nat(out: Path, _: str) -> None:
    _synthesize(out, nat_platform(), ())


def nat_platform() -> Platform:
    return platform(
        name="open-mill",
        account=OPEN,
        network={"kind": "create", "egress": "nat"},
        ci={
            "deploy_subject": "repo:owner/name:environment:production",
            "plan_subject": "repo:owner/name:environment:plan",
        },
        permissions_boundary=f"arn:aws:iam::{OPEN}:policy/boundary",
        **LOCAL,
    )


def as_guest(out: Path, url: str) -> None:
    """In a network and with an input, under a key, that are there already."""
    ec2, kms, s3 = (client(name, BORROWED, url) for name in ("ec2", "kms", "s3"))
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for cidr, zone in (("10.9.0.0/20", f"{REGION}a"), ("10.9.16.0/20", f"{REGION}b"))
    ]
    key = kms.create_key(Description="Of the bucket's owner")["KeyMetadata"]["Arn"]
    s3.create_bucket(Bucket=LENT)
    rule = {
        "ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    }
    s3.put_bucket_encryption(Bucket=LENT, ServerSideEncryptionConfiguration={"Rules": [rule]})
    s3.put_object(Bucket=LENT, Key="in/a.jsonl", Body=b"{}")
    where = platform(
        name="guest-mill",
        account=BORROWED,
        network={"kind": "existing", "vpc": vpc, "subnets": subnets, "cidr": "10.9.0.0/16"},
        existing_buckets={LENT: {"key": key}},
        **LOCAL,
    )
    borrowing = (
        "name=embed-lent",
        f"input.uri=s3://{LENT}/in/",
        "output.uri=s3://guest-results/out/{run}",
        "schedule=null",
        "budget=null",
    )
    _synthesize(out, where, borrowing)


def lent(url: str) -> dict[str, Any]:
    """What of it is still there."""
    ec2, s3 = client("ec2", BORROWED, url), client("s3", BORROWED, url)
    subnets = ec2.describe_subnets(Filters=[{"Name": "cidr-block", "Values": ["10.9.*"]}])
    listed = s3.list_objects_v2(Bucket=LENT)["Contents"]
    return {
        "subnets": sorted(subnet["CidrBlock"] for subnet in subnets["Subnets"]),
        "objects": [found["Key"] for found in listed],
        "buckets": [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]],
    }


def client(service: str, account: str, url: str) -> Any:
    keys = {"aws_access_key_id": account, "aws_secret_access_key": "test"}
    return boto3.client(service, endpoint_url=url, region_name=REGION, **keys)  # type: ignore[call-overload]


def _edit(override: str) -> Callable[[Path, str], None]:
    return lambda out, _: _synthesize(out, _maximal(), (override,))


def _maximal() -> Platform:
    return maximal_platform(existing_buckets={}, **LOCAL)


def _synthesize(out: Path, where: Platform, *blueprints: tuple[str, ...]) -> None:
    """The shipped blueprint, once for each set of overrides."""
    from infra.main import synthesize

    chosen = [
        (f"{number}.yaml", load_blueprint(BLUEPRINT, overrides))
        for number, overrides in enumerate(blueprints)
    ]
    synthesize(where, resolve(where, chosen), out)
