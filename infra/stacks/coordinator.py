"""Who plans, submits and finishes the runs that a schedule starts: one small container.

There only where the blueprint has a schedule. A person's own machine does this for their runs.
"""

from collections.abc import Mapping
from typing import Final

from cdktn import TerraformResourceLifecycle
from cdktn_provider_aws.batch_compute_environment import (
    BatchComputeEnvironment,
    BatchComputeEnvironmentComputeResources,
)
from constructs import Construct

from gristmill.contract.deployment import parameter_name
from infra.constructs.gpu_queue import GpuQueue, job_queue
from infra.constructs.inference_job import CoordinatorJob, InferenceJob
from infra.constructs.job_grants import grant_submit, submit_statements
from infra.constructs.role import JobRole
from infra.constructs.work_queue import WorkQueue
from infra.policy import Statement
from infra.stacks.base import service_role
from infra.stacks.data import DataStack
from infra.stacks.foundation import FoundationStack
from infra.team import Team

COMMAND: Final = ("gristmill", "run")
"""Which run, it learns from the deployment that its environment names."""
VCPUS: Final = 16


class Coordinator(Construct):
    """A container without a machine of ours: nothing to patch, nothing at rest."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        team: Team,
        foundation: FoundationStack,
        data: DataStack,
        environment: Mapping[str, str],
        execution: JobRole,
    ) -> None:
        super().__init__(scope, id_)
        self._team = team
        self.role = self._role(data)
        self._queue = self._small_queue(foundation)
        self._job = CoordinatorJob(
            self,
            "job",
            name=team.name,
            image=team.platform.image_uri,
            command=COMMAND,
            environment=environment,
            job_role=self.role.arn,
            execution_role=execution.arn,
            log_group=team.log_group,
            region=team.platform.region,
            timeout_seconds=team.timeout_seconds,
            tags=team.tags,
        )
        self.definition = self._job.reference

    @property
    def queue_arn(self) -> str:
        return self._team.arn("batch", f"job-queue/{self._queue_name}")

    @property
    def queue(self) -> str:
        """ARN of its job queue, for those that must wait for it to exist."""
        return self._queue

    def feeds(self, shards: WorkQueue, gpu: GpuQueue, worker: InferenceJob) -> None:
        """Let it fill the queue of shards and start workers."""
        shards.grant_fill(self.role, "fill-queue")
        grant_submit(
            self.role, "submit-workers", self._team, queue=gpu.name, definitions=(worker.name,)
        )

    def grant_start(self, role: JobRole, grant: str) -> None:
        """Submit this definition to this queue, and nothing else."""
        role.allow(
            grant,
            submit_statements(self._team, self._queue_name, (self._job.name,), shared=False),
        )

    @property
    def _queue_name(self) -> str:
        return f"{self._team.name}-small"

    def _role(self, data: DataStack) -> JobRole:
        team = self._team
        role = service_role(
            self, team, "coordinator", "Plans, submits and finishes", "ecs-tasks.amazonaws.com"
        )
        data.input.grant_read(role, "read-input", prefix=team.input.prefix)
        data.models.grant_read(role, "read-models")
        data.runs.grant_write(role, "write-runs")
        data.output.grant_write(role, "write-output", prefix=team.output.prefix)
        parameter = team.arn("ssm", f"parameter{parameter_name(team.name)}")
        role.allow("read-deployment", [Statement(("ssm:GetParameter",), (parameter,))])
        return role

    def _small_queue(self, foundation: FoundationStack) -> str:
        environment = BatchComputeEnvironment(
            self,
            "fargate",
            name_prefix=f"{self._team.name}-small-",
            type="MANAGED",
            compute_resources=BatchComputeEnvironmentComputeResources(
                type="FARGATE",
                max_vcpus=VCPUS,
                subnets=foundation.subnets,
                security_group_ids=[foundation.security_group],
            ),
            lifecycle=TerraformResourceLifecycle(create_before_destroy=True),
        )
        made = job_queue(self, self._queue_name, [environment], None, self._team.timeout_seconds)
        return made.arn
