"""The smallest blueprint and platform that can be deployed, and the largest."""

from pathlib import Path
from typing import Any

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.load import parse_blueprint
from gristmill.contract.platform import Platform
from infra.team import Team, resolve

DIGEST = "sha256:" + "0" * 64


def blueprint(**changes: Any) -> Blueprint:
    """Minimal: one GPU model, on-demand."""
    tree: dict[str, Any] = {
        "version": 1,
        "name": "mill",
        "task": {"kind": "transform", "engine": {"kind": "echo"}},
        "input": {"uri": "s3://grain/in/", "format": {"kind": "jsonl"}},
        "output": {"uri": "s3://flour/out/{run}"},
        "capacity": {"gpus": ["L4"], "on_demand": {}},
    }
    return parse_blueprint({**tree, **changes}, "blueprint.yaml", Path())


def maximal_blueprint(**changes: Any) -> Blueprint:
    return blueprint(
        **{
            "team": "search-quality",
            "capacity": {
                "gpus": ["L40S", "L4"],
                "max_workers": 40,
                "attempts": 4,
                "spot": {},
                "on_demand": {},
            },
            "deadline": "6h",
            "budget": {"max_usd": 200},
            "schedule": {"cron": "0 2 * * ? *", "timezone": "Europe/Berlin"},
            **changes,
        }
    )


def platform(**changes: Any) -> Platform:
    return Platform.model_validate(
        {
            "version": 1,
            "account": "111122223333",
            "image": f"gristmill/worker@{DIGEST}",
            **changes,
        }
    )


def maximal_platform(**changes: Any) -> Platform:
    return platform(
        **{
            "network": {
                "kind": "create",
                "zones": ["us-east-1a", "us-east-1b", "us-east-1c"],
                "egress": "none",
            },
            "state": {"kind": "s3", "bucket": "states"},
            "protect": False,
            "alerts": "mill@example.com",
            "existing_buckets": {"grain": {"key": "arn:aws:kms:us-east-1:111122223333:key/grain"}},
            "permissions_boundary": "arn:aws:iam::111122223333:policy/boundary",
            "ci": {
                "deploy_subject": "repo:owner/name:environment:production",
                "plan_subject": "repo:owner/name:environment:plan",
            },
            "tags": {"cost-center": "42"},
            **changes,
        }
    )


def team(chosen: Blueprint | None = None, where: Platform | None = None) -> Team:
    (resolved,) = resolve(where or platform(), [("blueprint.yaml", chosen or blueprint())])
    return resolved


def two_teams() -> tuple[Team, ...]:
    """Both read a bucket that was there before, each a prefix of its own."""
    chosen = [
        (f"{name}.yaml", make(name=name, **_places(name)))
        for name, make in (("mill", maximal_blueprint), ("kiln", blueprint))
    ]
    return resolve(maximal_platform(existing_buckets={"silo": {}}), chosen)


def _places(name: str) -> dict[str, Any]:
    return {
        "team": f"{name}-people",
        "input": {"uri": f"s3://silo/{name}/", "format": {"kind": "jsonl"}},
        "output": {"uri": f"s3://{name}-flour/out/{{run}}"},
    }
