"""A team's queues, machines, job definitions, and who those jobs are."""

from cdktn import App
from cdktn_provider_aws.cloudwatch_log_group import CloudwatchLogGroup
from cdktn_provider_aws.iam_instance_profile import IamInstanceProfile

from gristmill.contract.deployment import ENV_DEPLOYMENT, parameter_name
from gristmill.contract.platform import CreateNetwork
from gristmill.contract.process import ENV_QUEUE, ENV_RUNS
from infra.constructs.gpu_queue import GpuQueue
from infra.constructs.inference_job import InferenceJob
from infra.constructs.role import JobRole
from infra.constructs.work_queue import WorkQueue
from infra.machine_access import execution_statements, instance_statements
from infra.stacks.base import PlatformStack, service_role
from infra.stacks.coordinator import Coordinator
from infra.stacks.data import DataStack
from infra.stacks.foundation import FoundationStack
from infra.team import Team


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
        self.coordinator = self._coordinator(foundation) if team.blueprint.schedule else None

    def _role(self, use: str, description: str, service: str) -> JobRole:
        return service_role(self, self._team, use, description, service)

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
            patience_seconds=team.timeout_seconds,
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

    def _coordinator(self, foundation: FoundationStack) -> Coordinator:
        made = Coordinator(
            self,
            "coordinator",
            team=self._team,
            foundation=foundation,
            data=self._data,
            environment=self._environment(),
            execution=self.execution,
        )
        made.feeds(self.queue, self.gpu, self.worker)
        return made
