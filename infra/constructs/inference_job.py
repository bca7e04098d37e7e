"""The worker's job definition."""

import json
from collections.abc import Mapping
from typing import Any, Final

from cdktn_provider_aws.batch_job_definition import (
    BatchJobDefinition,
    BatchJobDefinitionRetryStrategy,
    BatchJobDefinitionRetryStrategyEvaluateOnExit,
    BatchJobDefinitionTimeout,
)
from constructs import Construct

from infra.retries import retry_rules
from infra.team import WorkerShape
from infra.user_data import SCRATCH

USER: Final = "10001:10001"
COMMAND: Final = ("gristmill", "worker")
TMP: Final = "/tmp"  # noqa: S108 - inside the container
TMP_MIB: Final = 256
UNLIMITED: Final = -1


class InferenceJob(Construct):
    """One GPU, a scratch disk, nothing it could write to beside that, and no way to be root."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        image: str,
        shape: WorkerShape,
        environment: Mapping[str, str],
        job_role: str,
        execution_role: str,
        log_group: str,
        region: str,
        attempts: int,
        timeout_seconds: int,
        tags: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id_)
        self.name = f"{name}-worker"
        container = {
            **_container(
                image, COMMAND, {**environment, "TMPDIR": SCRATCH, "HF_HOME": f"{SCRATCH}/hf"}
            ),
            "jobRoleArn": job_role,
            "executionRoleArn": execution_role,
            "logConfiguration": logs_to(log_group, region, "worker"),
            "resourceRequirements": [
                {"type": "GPU", "value": "1"},
                {"type": "MEMORY", "value": str(shape.memory_mib)},
                {"type": "VCPU", "value": str(shape.vcpus)},
            ],
            "linuxParameters": {
                "initProcessEnabled": True,
                # Half of the memory, as Docker's own 64 MiB break engines of several processes.
                "sharedMemorySize": shape.memory_mib // 2,
                "tmpfs": [
                    {"containerPath": TMP, "size": TMP_MIB, "mountOptions": ["nosuid", "nodev"]}
                ],
            },
            "ulimits": [
                {"name": "memlock", "softLimit": UNLIMITED, "hardLimit": UNLIMITED},
                {"name": "nofile", "softLimit": 65_536, "hardLimit": 65_536},
                {"name": "stack", "softLimit": 67_108_864, "hardLimit": 67_108_864},
            ],
            "volumes": [{"name": "scratch", "host": {"sourcePath": SCRATCH}}],
            "mountPoints": [
                {"sourceVolume": "scratch", "containerPath": SCRATCH, "readOnly": False}
            ],
            "privileged": False,
        }
        self.reference = _definition(
            self, self.name, container, "EC2", attempts, timeout_seconds, tags, priority=1
        )


class CoordinatorJob(Construct):
    """Plans, submits and finishes runs: a small container without a machine of its own."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        image: str,
        command: tuple[str, ...],
        environment: Mapping[str, str],
        job_role: str,
        execution_role: str,
        log_group: str,
        region: str,
        timeout_seconds: int,
        tags: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id_)
        self.name = f"{name}-coordinator"
        container = {
            **_container(image, command, {**environment, "TMPDIR": SCRATCH}),
            "jobRoleArn": job_role,
            "executionRoleArn": execution_role,
            "logConfiguration": logs_to(log_group, region, "coordinator"),
            "resourceRequirements": [
                {"type": "MEMORY", "value": "4096"},
                {"type": "VCPU", "value": "1"},
            ],
            "volumes": [{"name": "scratch"}],
            "mountPoints": [
                {"sourceVolume": "scratch", "containerPath": SCRATCH, "readOnly": False}
            ],
            "networkConfiguration": {"assignPublicIp": "DISABLED"},
            "fargatePlatformConfiguration": {"platformVersion": "LATEST"},
            "runtimePlatform": {"operatingSystemFamily": "LINUX", "cpuArchitecture": "X86_64"},
        }
        self.reference = _definition(
            self, self.name, container, "FARGATE", 3, timeout_seconds, tags, priority=None
        )


def logs_to(group: str, region: str, prefix: str) -> dict[str, Any]:
    return {
        "logDriver": "awslogs",
        "options": {
            "awslogs-group": group,
            "awslogs-region": region,
            "awslogs-stream-prefix": prefix,
        },
    }


def _container(
    image: str, command: tuple[str, ...], environment: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "image": image,
        "command": list(command),
        "user": USER,
        "readonlyRootFilesystem": True,
        "environment": [
            {"name": name, "value": value} for name, value in sorted(environment.items())
        ],
    }


def _definition(
    scope: Construct,
    name: str,
    container: Mapping[str, Any],
    platform: str,
    attempts: int,
    timeout_seconds: int,
    tags: Mapping[str, str],
    priority: int | None,
) -> str:
    rules = [
        BatchJobDefinitionRetryStrategyEvaluateOnExit(
            action=rule.action,
            on_exit_code=rule.exit_code,
            on_reason=rule.reason,
            on_status_reason=rule.status_reason,
        )
        for rule in retry_rules()
    ]
    made = BatchJobDefinition(
        scope,
        "definition",
        name=name,
        type="container",
        platform_capabilities=[platform],
        # Runs in flight keep the revision they were submitted with.
        deregister_on_new_revision=False,
        propagate_tags=True,
        scheduling_priority=priority,
        container_properties=json.dumps(container, sort_keys=True),
        retry_strategy=BatchJobDefinitionRetryStrategy(attempts=attempts, evaluate_on_exit=rules),
        timeout=BatchJobDefinitionTimeout(attempt_duration_seconds=timeout_seconds),
        tags=dict(tags),
    )
    return made.arn
