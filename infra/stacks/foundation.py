"""What every team of a platform shares: network, image repository, key. The dearest part at rest,
so there is one of it."""

import json
from collections.abc import Sequence
from typing import Final

from cdktn import App, TerraformResourceLifecycle
from cdktn_provider_aws.cloudwatch_log_group import CloudwatchLogGroup
from cdktn_provider_aws.ecr_lifecycle_policy import EcrLifecyclePolicy
from cdktn_provider_aws.ecr_repository import (
    EcrRepository,
    EcrRepositoryEncryptionConfiguration,
    EcrRepositoryImageScanningConfiguration,
)

from gristmill.contract.platform import CreateNetwork, ExistingNetwork, Platform
from infra.constructs.key import Key
from infra.constructs.private_network import PrivateNetwork, Reachable, machine_group, open_to
from infra.constructs.role import JobRole
from infra.network_plan import interface_endpoints
from infra.policy import Statement, trust_service
from infra.stacks.base import PlatformStack
from infra.team import Team, platform_tags

UNTAGGED_DAYS: Final = 30


class FoundationStack(PlatformStack):
    def __init__(self, app: App, platform: Platform, teams: Sequence[Team]) -> None:
        super().__init__(app, platform.name, "foundation", platform, platform_tags(platform))
        self.subnets: list[str] = []
        self.security_group = ""
        self._platform = platform
        self._key = Key(
            self,
            "key",
            name=f"{platform.name}-foundation",
            account=platform.account,
            region=platform.region,
            log_groups=f"/gristmill/{platform.name}/*",
            protect=platform.protect,
        )
        self._repository(platform)
        match platform.network:
            case CreateNetwork() as settings:
                self._network(settings, teams)
            case ExistingNetwork() as existing:
                group = machine_group(self, platform.name, existing.vpc)
                open_to(self, group, "0.0.0.0/0", "HTTPS, by whatever way the network has")
                self.subnets, self.security_group = list(existing.subnets), group.id

    def _repository(self, platform: Platform) -> None:
        repository = EcrRepository(
            self,
            "images",
            name=repository_name(platform),
            image_tag_mutability="IMMUTABLE",
            force_delete=not platform.protect,
            image_scanning_configuration=EcrRepositoryImageScanningConfiguration(scan_on_push=True),
            encryption_configuration=[
                EcrRepositoryEncryptionConfiguration(encryption_type="KMS", kms_key=self._key.arn)
            ],
            lifecycle=TerraformResourceLifecycle(prevent_destroy=True)
            if platform.protect
            else None,
        )
        untagged = {
            "rulePriority": 1,
            "description": "images that lost their tag",
            "selection": {
                "tagStatus": "untagged",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": UNTAGGED_DAYS,
            },
            "action": {"type": "expire"},
        }
        EcrLifecyclePolicy(
            self, "sweep", repository=repository.name, policy=json.dumps({"rules": [untagged]})
        )

    def _network(self, settings: CreateNetwork, teams: Sequence[Team]) -> None:
        platform = self._platform
        buckets = {place.bucket for t in teams for place in (t.input, t.output, t.runs, t.models)}
        network = PrivateNetwork(
            self,
            "network",
            name=platform.name,
            account=platform.account,
            region=platform.region,
            settings=settings,
            zones=platform.zones,
            reachable=Reachable(interface_endpoints(teams), tuple(sorted(buckets))),
        )
        self._log_flows(network)
        self.subnets, self.security_group = network.subnet_ids, network.security_group

    def _log_flows(self, network: PrivateNetwork) -> None:
        platform = self._platform
        group = CloudwatchLogGroup(
            self,
            "flow-logs",
            name=flow_group(platform),
            retention_in_days=platform.keep.log_days,
            kms_key_id=self._key.arn,
        )
        role = JobRole(
            self,
            "flow-role",
            name=f"{platform.name}-flows",
            account=platform.account,
            description="Writes the network's flow logs",
            trust=trust_service("vpc-flow-logs.amazonaws.com", platform.account),
            boundary=platform.permissions_boundary,
        )
        name = f"arn:aws:logs:{platform.region}:{platform.account}:log-group:{flow_group(platform)}"
        role.allow(
            "write-flow-logs",
            [
                Statement(
                    ("logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"),
                    (f"{name}:*",),
                )
            ],
        )
        network.log_flows(role.reference, group.arn)


def repository_name(platform: Platform) -> str:
    return f"{platform.name}/worker"


def flow_group(platform: Platform) -> str:
    return f"/gristmill/{platform.name}/flows"
