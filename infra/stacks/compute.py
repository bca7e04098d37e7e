"""A team's queues, machines, job definitions, and who those jobs are."""

from cdktn import App, TerraformResourceLifecycle
from cdktn_provider_aws.batch_compute_environment import (
    BatchComputeEnvironment,
    BatchComputeEnvironmentComputeResources,
)
from cdktn_provider_aws.cloudwatch_log_group import CloudwatchLogGroup
from cdktn_provider_aws.iam_instance_profile import IamInstanceProfile
from constructs import Construct

from gristmill.contract.deployment import ENV_DEPLOYMENT, parameter_name
from gristmill.contract.platform import CreateNetwork
from gristmill.contract.process import ENV_QUEUE, ENV_RUNS
from infra.constructs.gpu_queue import GpuQueue, job_queue
from infra.constructs.inference_job import CoordinatorJob, InferenceJob
from infra.constructs.job_grants import grant_submit
from infra.constructs.role import JobRole
from infra.constructs.work_queue import WorkQueue
from infra.machine_access import execution_statements, instance_statements
from infra.policy import Statement, trust_service
from infra.stacks.base import PlatformStack
from infra.stacks.data import DataStack
from infra.stacks.foundation import FoundationStack
from infra.team import Team

COORDINATOR_COMMAND = ("gristmill", "run")
"""Which run, it learns from the deployment that its environment names."""
COORDINATOR_VCPUS = 16


class ComputeStack(PlatformStack):
    def __init__(self, app: App, team: Team, foundation: FoundationStack, data: DataStack) -> None:
        platform = team.platform
        super().__init__(app, team.name, "compute", platform, team.tags)
        self._team, self._data = team, data
        self.queue = WorkQueue(
            self,
            "shards",
            name=team.name,
            account=platform.account,
            region=platform.region,
            attempts=team.blueprint.capacity.attempts,
        )
        CloudwatchLogGroup(
            self,
            "logs",
            name=team.log_group,
            retention_in_days=platform.keep.log_days,
            kms_key_id=data.key,
        )
        self.execution = self._execution()
        self.job = self._job()
        self.gpu = self._gpu_queue(foundation)
        self.worker = self._worker()
        self.coordinator_queue = self._coordinator_queue(foundation)
        self.coordinator = self._coordinator()

    def _role(self, use: str, description: str, service: str) -> JobRole:
        platform = self._team.platform
        return JobRole(
            self,
            f"{use}-role",
            name=f"{self._team.name}-{use}",
            account=platform.account,
            description=description,
            # EC2 doesn't say for which account it asks: it can only be this one.
            trust=trust_service(
                service, platform.account, confused_deputy=service != "ec2.amazonaws.com"
            ),
            boundary=platform.permissions_boundary,
        )

    def _execution(self) -> JobRole:
        role = self._role("execution", "Starts containers: image, logs", "ecs-tasks.amazonaws.com")
        role.allow("start-containers", execution_statements(self._team))
        return role

    def _job(self) -> JobRole:
        team, data = self._team, self._data
        role = self._role("job", "The worker", "ecs-tasks.amazonaws.com")
        data.input.grant_read(role, "read-input", prefix=team.input.prefix)
        data.models.grant_read(role, "read-models")
        data.runs.grant_write(role, "write-runs")
        data.output.grant_write(role, "write-output", prefix=team.output.prefix)
        self.queue.grant_consume(role, "take-shards")
        return role

    def _gpu_queue(self, foundation: FoundationStack) -> GpuQueue:
        team = self._team
        role = self._role("instance", "The machine's container agent", "ec2.amazonaws.com")
        role.allow("run-agent", instance_statements(team))
        profile = IamInstanceProfile(
            self, "profile", name=f"{team.name}-instance", role=role.name_reference
        )
        return GpuQueue(
            self,
            "gpu",
            name=team.name,
            account=team.platform.account,
            region=team.platform.region,
            shape=team.worker,
            purchase=team.purchase,
            share=team.share,
            subnets=foundation.subnets,
            security_group=foundation.security_group,
            instance_profile=profile.arn,
            after=role.complete,
            tags={**team.tags, "Name": f"{team.name}-worker"},
        )

    def _worker(self) -> InferenceJob:
        team = self._team
        return InferenceJob(
            self,
            "worker",
            name=team.name,
            image=team.platform.image_uri,
            shape=team.worker,
            environment=self._environment(),
            job_role=self.job.arn,
            execution_role=self.execution.arn,
            log_group=team.log_group,
            region=team.platform.region,
            attempts=team.blueprint.capacity.attempts,
            timeout_seconds=team.timeout_seconds,
            tags=team.tags,
        )

    def _environment(self) -> dict[str, str]:
        team = self._team
        network = team.platform.network
        offline = isinstance(network, CreateNetwork) and network.egress == "none"
        return {
            ENV_QUEUE: f"sqs:{self.queue.url}",
            ENV_RUNS: team.runs.uri,
            ENV_DEPLOYMENT: parameter_name(team.name),
            "AWS_REGION": team.platform.region,
            **({"HF_HUB_OFFLINE": "1"} if offline else {}),
        }

    def _coordinator_queue(self, foundation: FoundationStack) -> "CoordinatorQueue":
        return CoordinatorQueue(self, "small", self._team, foundation)

    def _coordinator(self) -> CoordinatorJob:
        team, data = self._team, self._data
        role = self._role("coordinator", "Plans, submits and finishes", "ecs-tasks.amazonaws.com")
        data.input.grant_read(role, "read-input", prefix=team.input.prefix)
        data.models.grant_read(role, "read-models")
        data.runs.grant_write(role, "write-runs")
        data.output.grant_write(role, "write-output", prefix=team.output.prefix)
        self.queue.grant_fill(role, "fill-queue")
        grant_submit(
            role, "submit-workers", team, queue=self.gpu.name, definitions=(self.worker.name,)
        )
        role.allow(
            "read-deployment",
            [
                Statement(
                    ("ssm:GetParameter",),
                    (team.arn("ssm", f"parameter{parameter_name(team.name)}"),),
                )
            ],
        )
        self.coordinator_role = role
        return CoordinatorJob(
            self,
            "coordinator",
            name=team.name,
            image=team.platform.image_uri,
            command=COORDINATOR_COMMAND,
            environment=self._environment(),
            job_role=role.arn,
            execution_role=self.execution.arn,
            log_group=team.log_group,
            region=team.platform.region,
            timeout_seconds=team.timeout_seconds,
            tags=team.tags,
        )


class CoordinatorQueue(Construct):
    """Small containers without machines of ours: nothing to patch, nothing at rest."""

    def __init__(self, scope: Construct, id_: str, team: Team, foundation: FoundationStack) -> None:
        super().__init__(scope, id_)
        environment = BatchComputeEnvironment(
            self,
            "fargate",
            name_prefix=f"{team.name}-small-",
            type="MANAGED",
            compute_resources=BatchComputeEnvironmentComputeResources(
                type="FARGATE",
                max_vcpus=COORDINATOR_VCPUS,
                subnets=foundation.subnets,
                security_group_ids=[foundation.security_group],
            ),
            lifecycle=TerraformResourceLifecycle(create_before_destroy=True),
        )
        self.name = f"{team.name}-small"
        self.arn = team.arn("batch", f"job-queue/{self.name}")
        self.reference = job_queue(self, self.name, [environment], None).arn
