"""Starts a run by the clock."""

import json

from cdktn import App
from cdktn_provider_aws.scheduler_schedule import (
    SchedulerSchedule,
    SchedulerScheduleFlexibleTimeWindow,
    SchedulerScheduleTarget,
    SchedulerScheduleTargetRetryPolicy,
)

from gristmill.contract.blueprint import Schedule
from gristmill.contract.deployment import TAG_BLUEPRINT, TAG_TEAM
from infra.constructs.job_grants import submit_statements
from infra.constructs.role import JobRole
from infra.policy import trust_service
from infra.stacks.base import PlatformStack
from infra.stacks.compute import ComputeStack
from infra.team import Team

LATEST_START_SECONDS = 3600


class ScheduleStack(PlatformStack):
    def __init__(self, app: App, team: Team, schedule: Schedule, compute: ComputeStack) -> None:
        platform = team.platform
        super().__init__(app, team.name, "schedule", platform, team.tags)
        role = JobRole(
            self,
            "scheduler",
            name=f"{team.name}-scheduler",
            account=platform.account,
            description=f"Starts {team.name} by the clock",
            trust=trust_service("scheduler.amazonaws.com", platform.account),
            boundary=platform.permissions_boundary,
        )
        role.allow(
            "start-coordinator",
            submit_statements(
                team, compute.coordinator_queue.name, (compute.coordinator.name,), shared=False
            ),
        )
        submission = {
            "JobName": f"{team.name}-scheduled",
            "JobQueue": compute.coordinator_queue.reference,
            "JobDefinition": compute.coordinator.reference,
            "Tags": {TAG_BLUEPRINT: team.name, TAG_TEAM: team.team},
        }
        SchedulerSchedule(
            self,
            "schedule",
            name=team.name,
            description=f"Starts a run of {team.name}",
            schedule_expression=f"cron({schedule.cron})",
            schedule_expression_timezone=schedule.timezone,
            flexible_time_window=SchedulerScheduleFlexibleTimeWindow(mode="OFF"),
            target=SchedulerScheduleTarget(
                arn="arn:aws:scheduler:::aws-sdk:batch:submitJob",
                role_arn=role.reference,
                input=json.dumps(submission),
                retry_policy=SchedulerScheduleTargetRetryPolicy(
                    maximum_event_age_in_seconds=LATEST_START_SECONDS, maximum_retry_attempts=3
                ),
            ),
            depends_on=role.complete,
        )
