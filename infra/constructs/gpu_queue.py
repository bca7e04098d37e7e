"""Machines that come with work and go with it: spot first, then on-demand, and none at rest."""

from collections.abc import Mapping, Sequence
from typing import Final

from cdktn import ITerraformDependable, TerraformResourceLifecycle, Token
from cdktn_provider_aws.batch_compute_environment import (
    BatchComputeEnvironment,
    BatchComputeEnvironmentComputeResources,
    BatchComputeEnvironmentComputeResourcesEc2Configuration,
    BatchComputeEnvironmentComputeResourcesLaunchTemplate,
)
from cdktn_provider_aws.batch_job_queue import (
    BatchJobQueue,
    BatchJobQueueComputeEnvironmentOrder,
    BatchJobQueueJobStateTimeLimitAction,
)
from cdktn_provider_aws.batch_scheduling_policy import (
    BatchSchedulingPolicy,
    BatchSchedulingPolicyFairSharePolicy,
    BatchSchedulingPolicyFairSharePolicyShareDistribution,
)
from cdktn_provider_aws.launch_template import (
    LaunchTemplate,
    LaunchTemplateBlockDeviceMappings,
    LaunchTemplateBlockDeviceMappingsEbs,
    LaunchTemplateMetadataOptions,
    LaunchTemplateTagSpecifications,
)
from constructs import Construct

from infra.team import WorkerShape
from infra.user_data import user_data

ROOT_GIB: Final = 100
SHORTEST_WAIT, LONGEST_WAIT = 600, 86_400
"""What AWS Batch takes."""
NO_CAPACITY: Final = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
MISCONFIGURED: Final = (
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
)
STRATEGIES: Final = {"SPOT": "SPOT_PRICE_CAPACITY_OPTIMIZED", "EC2": "BEST_FIT_PROGRESSIVE"}
LABELS: Final = {"SPOT": "spot", "EC2": "on-demand"}
# AWS Batch sets desired_vcpus as work comes and goes.
NOT_OURS: Final = ["compute_resources[0].desired_vcpus"]


class GpuQueue(Construct):
    """A job queue over one compute environment for each way of buying."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        account: str,
        region: str,
        shape: WorkerShape,
        purchase: Sequence[str],
        share: str,
        patience_seconds: int,
        subnets: list[str],
        security_group: str,
        instance_profile: str,
        after: list[ITerraformDependable],
        tags: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id_)
        self.name = f"{name}-gpu"
        self.arn = f"arn:aws:batch:{region}:{account}:job-queue/{self.name}"
        self._shape, self._tags = shape, dict(tags)
        self._template = self._launch_template(name)
        environments = [
            self._environment(name, kind, subnets, security_group, instance_profile, after)
            for kind in purchase
        ]
        policy = BatchSchedulingPolicy(
            self,
            "fair-share",
            name=name,
            fair_share_policy=BatchSchedulingPolicyFairSharePolicy(
                compute_reservation=0,
                share_decay_seconds=3600,
                share_distribution=[
                    BatchSchedulingPolicyFairSharePolicyShareDistribution(
                        share_identifier=share, weight_factor=1
                    )
                ],
            ),
        )
        self.reference = job_queue(self, self.name, environments, policy.arn, patience_seconds).arn

    def _launch_template(self, name: str) -> LaunchTemplate:
        root = LaunchTemplateBlockDeviceMappingsEbs(
            volume_type="gp3",
            volume_size=ROOT_GIB,
            # Under the account's EBS key: a customer key needs grants for the Auto Scaling and
            # Spot roles, or machines die as they start.
            encrypted="true",
            delete_on_termination="true",
        )
        return LaunchTemplate(
            self,
            "template",
            name_prefix=f"{name}-",
            update_default_version=True,
            user_data=user_data(),
            metadata_options=LaunchTemplateMetadataOptions(
                http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
            ),
            block_device_mappings=[
                LaunchTemplateBlockDeviceMappings(device_name="/dev/xvda", ebs=root)
            ],
            tag_specifications=[
                LaunchTemplateTagSpecifications(resource_type="volume", tags=self._tags)
            ],
        )

    def _environment(
        self,
        name: str,
        kind: str,
        subnets: list[str],
        security_group: str,
        instance_profile: str,
        after: list[ITerraformDependable],
    ) -> BatchComputeEnvironment:
        template = BatchComputeEnvironmentComputeResourcesLaunchTemplate(
            launch_template_id=self._template.id,
            version=Token.as_string(self._template.latest_version),
        )
        return BatchComputeEnvironment(
            self,
            LABELS[kind],
            name_prefix=f"{name}-{LABELS[kind]}-",
            type="MANAGED",
            compute_resources=BatchComputeEnvironmentComputeResources(
                type=kind,
                allocation_strategy=STRATEGIES[kind],
                min_vcpus=0,
                max_vcpus=self._shape.max_vcpus,
                instance_type=sorted({machine.name for machine in self._shape.machines}),
                instance_role=instance_profile,
                subnets=subnets,
                security_group_ids=[security_group],
                ec2_configuration=[
                    BatchComputeEnvironmentComputeResourcesEc2Configuration(
                        image_type="ECS_AL2023_NVIDIA"
                    )
                ],
                launch_template=template,
                tags=self._tags,
            ),
            lifecycle=TerraformResourceLifecycle(
                create_before_destroy=True, ignore_changes=NOT_OURS
            ),
            depends_on=after,
        )


def job_queue(
    scope: Construct,
    name: str,
    environments: Sequence[BatchComputeEnvironment],
    policy: str | None,
    patience_seconds: int,
) -> BatchJobQueue:
    """In the order given. A job that can never start is cancelled soon; one that waits for
    capacity only when its patience is over."""
    waits = dict.fromkeys(MISCONFIGURED, SHORTEST_WAIT) | {
        NO_CAPACITY: min(max(patience_seconds, SHORTEST_WAIT), LONGEST_WAIT)
    }
    return BatchJobQueue(
        scope,
        "queue",
        name=name,
        state="ENABLED",
        priority=1,
        scheduling_policy_arn=policy,
        compute_environment_order=[
            BatchJobQueueComputeEnvironmentOrder(order=order, compute_environment=environment.arn)
            for order, environment in enumerate(environments, start=1)
        ],
        job_state_time_limit_action=[
            BatchJobQueueJobStateTimeLimitAction(
                action="CANCEL", state="RUNNABLE", reason=reason, max_time_seconds=seconds
            )
            for reason, seconds in sorted(waits.items())
        ],
    )
