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
from infra.stacks.base import PlatformStack, service_role
from infra.stacks.coordinator import Coordinator
from infra.team import Team

LATEST_START_SECONDS = 3600


class ScheduleStack(PlatformStack):
    def __init__(self, app: App, team: Team, schedule: Schedule, coordinator: Coordinator) -> None:
        super().__init__(app, team.name, "schedule", team.platform, team.tags)
        role = service_role(
            self,
            team,
            "scheduler",
            f"Starts {team.name} by the clock",
            "scheduler.amazonaws.com",
        )
        coordinator.grant_start(role, "start-coordinator")
        submission = {
            "JobName": f"{team.name}-scheduled",
            "JobQueue": coordinator.queue,
            "JobDefinition": coordinator.definition,
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
