"""Every sentence that a wrong platform.yaml can end in."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.contract.errors import ConfigError
from gristmill.contract.load import load_platform
from gristmill.contract.platform import Platform, json_schema

GOOD: dict[str, Any] = {
    "version": 1,
    "account": "111122223333",
    "image": f"gristmill/worker@sha256:{'0' * 64}",
}
BOUNDARY = "arn:aws:iam::111122223333:policy/boundary"
CI = {"deploy_subject": "repo:o/n:environment:p", "plan_subject": "repo:o/n:environment:q"}


def load(path: Path, **changes: Any) -> Platform:
    file = path / "platform.yaml"
    file.write_text(yaml.safe_dump({**GOOD, **changes}))
    return load_platform(file)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"account": 111122223333}, "account: got 111122223333, must be a valid string"),
        ({"account": "1111"}, "account: got '1111', must be an AWS account of 12 digits"),
        ({"region": "us-east"}, "region: got 'us-east', must be an AWS region such as"),
        ({"image": "gristmill/worker:latest"}, "a tag that may be moved; name the digest"),
        ({"image": "worker"}, "image: got 'worker', must be repository@sha256"),
        ({"name": "Mill"}, "name: got 'Mill', must be lower-case letters"),
        ({"netwerk": {}}, "netwerk: unknown key; did you mean network?"),
        ({"network": {"kind": "crate"}}, "network: got crate, must be one of 'create', 'existing'"),
        (
            {"network": {"kind": "create", "zones": ["us-east-1a"]}},
            "network.zones: got ['us-east-1a'], must be two or three zones",
        ),
        (
            {"network": {"kind": "create", "zones": ["us-east-1a", "us-west-2a"]}},
            "network.zones: got 'us-west-2a', must be a zone of us-east-1",
        ),
        (
            {"network": {"kind": "create", "cidr": "8.0.0.0/20"}},
            "network.cidr: got '8.0.0.0/20', must be a private IPv4 network",
        ),
        (
            {"network": {"kind": "create", "egres": "nat"}},
            "network.egres: unknown key; did you mean egress?",
        ),
        (
            {
                "network": {
                    "kind": "existing",
                    "vpc": "v",
                    "subnets": ["subnet-1"],
                    "cidr": "10.0.0.0/16",
                }
            },
            "network.vpc: got 'v', must be a VPC's id: vpc-…",
        ),
        ({"ci": CI}, "ci: needs permissions_boundary"),
        (
            {"permissions_boundary": BOUNDARY, "ci": {**CI, "plan_subject": "repo:o/n:*"}},
            "plan_subject must be one exact subject, without *",
        ),
        (
            {"permissions_boundary": BOUNDARY, "ci": {**CI, "plan_subject": CI["deploy_subject"]}},
            "deploy_subject and plan_subject must differ",
        ),
        ({"tags": {"gristmill:team": "x"}}, "tags: 'gristmill:team' is reserved"),
        ({"keep": {"run_days": 0}}, "keep.run_days: got 0, must be"),
        ({"alerts": "nobody"}, "alerts: got 'nobody', must be an e-mail address"),
    ],
)
def test_a_wrong_setting_is_refused_with_path_value_and_remedy(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, **changes)
    assert said in str(refused.value)


def test_a_tag_is_taken_where_it_is_named_as_meant(tmp_path: Path) -> None:
    assert load(tmp_path, image="worker:1.0", allow_image_tag=True).image == "worker:1.0"


def test_a_repository_without_a_registry_is_this_accounts(tmp_path: Path) -> None:
    uri = load(tmp_path).image_uri
    assert uri.startswith("111122223333.dkr.ecr.us-east-1.amazonaws.com/gristmill/worker@sha256:")
    elsewhere = f"ghcr.io/o/worker@sha256:{'0' * 64}"
    assert load(tmp_path, image=elsewhere).image_uri == elsewhere


def test_the_defaults_are_private_local_and_protected(tmp_path: Path) -> None:
    platform = load(tmp_path)
    assert platform.network.kind == "create"
    assert platform.network.egress == "none"
    assert platform.zones == ("us-east-1a", "us-east-1b")
    assert platform.state.kind == "local"
    assert platform.protect


def test_the_schema_describes_every_setting() -> None:
    assert set(json_schema()["properties"]) == set(Platform.model_fields)
