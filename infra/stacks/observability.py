"""What a team sees and is told: metrics, one dashboard, alarms, budget."""

import json
from typing import Any

from cdktn import App
from cdktn_provider_aws.budgets_budget import (
    BudgetsBudget,
    BudgetsBudgetCostFilter,
    BudgetsBudgetNotification,
)
from cdktn_provider_aws.cloudwatch_event_rule import CloudwatchEventRule
from cdktn_provider_aws.cloudwatch_event_target import CloudwatchEventTarget
from cdktn_provider_aws.cloudwatch_log_metric_filter import (
    CloudwatchLogMetricFilter,
    CloudwatchLogMetricFilterMetricTransformation,
)
from cdktn_provider_aws.cloudwatch_metric_alarm import (
    CloudwatchMetricAlarm,
    CloudwatchMetricAlarmMetricQuery,
    CloudwatchMetricAlarmMetricQueryMetric,
)
from cdktn_provider_aws.sns_topic import SnsTopic
from cdktn_provider_aws.sns_topic_policy import SnsTopicPolicy
from cdktn_provider_aws.sns_topic_subscription import SnsTopicSubscription

from gristmill.contract.blueprint import Budget
from gristmill.contract.deployment import TAG_BLUEPRINT
from infra.constructs.dashboard import Dashboard
from infra.policy import document
from infra.signals import NAMESPACE, SIGNALS, graphs, metric_name
from infra.stacks.base import PlatformStack
from infra.stacks.compute import ComputeStack
from infra.stacks.data import DataStack
from infra.team import Team

PERIOD = 300
QUIET_PERIODS = 12
"""An hour without an item, while shards wait, is a fault: the slowest part takes minutes."""


class ObservabilityStack(PlatformStack):
    def __init__(self, app: App, team: Team, data: DataStack, compute: ComputeStack) -> None:
        super().__init__(app, team.name, "observability", team.platform, team.tags)
        self._team, self._compute = team, compute
        self._topic = self._alerts(data.key)
        self._signals()
        Dashboard(
            self,
            "page",
            name=team.name,
            region=team.platform.region,
            introduction=(
                f"# {team.name}\nTeam {team.team}. Numbers come from the workers' event lines; "
                "workers are counted by the shards they hold."
            ),
            graphs=graphs(team, compute.queue.name, compute.queue.dead_name),
        )
        self._alarms()
        self._blocked_queues()
        if team.blueprint.budget is not None:
            self._budget(team.blueprint.budget)

    def _alerts(self, key: str) -> SnsTopic:
        team = self._team
        topic = SnsTopic(self, "alerts", name=f"{team.name}-alerts", kms_master_key_id=key)
        services = ["cloudwatch.amazonaws.com", "events.amazonaws.com", "budgets.amazonaws.com"]
        publish = {
            "Effect": "Allow",
            "Principal": {"Service": services},
            "Action": "sns:Publish",
            "Resource": team.arn("sns", f"{team.name}-alerts"),
            "Condition": {"StringEquals": {"aws:SourceAccount": team.platform.account}},
        }
        SnsTopicPolicy(self, "alert-senders", arn=topic.arn, policy=document([publish]))
        if team.platform.alerts is not None:
            SnsTopicSubscription(
                self, "reader", topic_arn=topic.arn, protocol="email", endpoint=team.platform.alerts
            )
        return topic

    def _signals(self) -> None:
        for signal in SIGNALS:
            CloudwatchLogMetricFilter(
                self,
                f"signal-{signal.metric}",
                name=signal.metric,
                log_group_name=self._team.log_group,
                pattern=signal.pattern,
                metric_transformation=CloudwatchLogMetricFilterMetricTransformation(
                    name=metric_name(self._team, signal.metric),
                    namespace=NAMESPACE,
                    value=signal.value,
                ),
            )

    def _alarms(self) -> None:
        queue, dead = self._compute.queue.name, self._compute.queue.dead_name
        fraction = self._team.blueprint.errors.max_failed_fraction
        self._alarm(
            "given-up",
            "A shard was given up: its messages are in the dead-letter queue",
            [self._shards("dead", dead, seen=True)],
            threshold=0,
        )
        self._alarm(
            "no-progress",
            "Shards are waiting, and for an hour no item was done",
            [
                self._shards("waiting", queue),
                self._ours("records", "Records"),
                self._math("IF(waiting > 0 AND FILL(records, 0) == 0, 1, 0)", "stuck"),
            ],
            threshold=0,
            periods=QUIET_PERIODS,
        )
        self._alarm(
            "rejected",
            f"More than {fraction:.2%} of the items are rejected",
            [
                self._ours("records", "Records"),
                self._ours("completed", "Completed"),
                self._math("(records - completed) / records", "rejected"),
            ],
            threshold=fraction,
            periods=3,
        )

    def _alarm(
        self,
        name: str,
        description: str,
        queries: list[CloudwatchMetricAlarmMetricQuery],
        *,
        threshold: float,
        periods: int = 1,
    ) -> None:
        CloudwatchMetricAlarm(
            self,
            f"alarm-{name}",
            alarm_name=f"{self._team.name}-{name}",
            alarm_description=description,
            comparison_operator="GreaterThanThreshold",
            threshold=threshold,
            evaluation_periods=periods,
            treat_missing_data="notBreaching",
            alarm_actions=[self._topic.arn],
            metric_query=queries,
        )

    def _shards(
        self, id_: str, queue: str, *, seen: bool = False
    ) -> CloudwatchMetricAlarmMetricQuery:
        metric = CloudwatchMetricAlarmMetricQueryMetric(
            namespace="AWS/SQS",
            metric_name="ApproximateNumberOfMessagesVisible",
            dimensions={"QueueName": queue},
            stat="Maximum",
            period=PERIOD,
        )
        return CloudwatchMetricAlarmMetricQuery(id=id_, metric=metric, return_data=seen)

    def _ours(self, id_: str, name: str) -> CloudwatchMetricAlarmMetricQuery:
        metric = CloudwatchMetricAlarmMetricQueryMetric(
            namespace=NAMESPACE,
            metric_name=metric_name(self._team, name),
            stat="Sum",
            period=PERIOD,
        )
        return CloudwatchMetricAlarmMetricQuery(id=id_, metric=metric, return_data=False)

    def _math(self, expression: str, label: str) -> CloudwatchMetricAlarmMetricQuery:
        return CloudwatchMetricAlarmMetricQuery(
            id="result", expression=expression, label=label, return_data=True
        )

    def _blocked_queues(self) -> None:
        coordinator = self._compute.coordinator
        queues = [self._compute.gpu.arn, *([coordinator.queue_arn] if coordinator else [])]
        pattern: dict[str, Any] = {
            "source": ["aws.batch"],
            "detail-type": ["Batch Job Queue Blocked"],
            "resources": queues,
        }
        rule = CloudwatchEventRule(
            self,
            "blocked",
            name=f"{self._team.name}-blocked",
            description="A job at the head of a queue can't start",
            event_pattern=json.dumps(pattern),
        )
        CloudwatchEventTarget(
            self, "tell-blocked", rule=rule.name, target_id="alerts", arn=self._topic.arn
        )

    def _budget(self, budget: Budget) -> None:
        name = self._team.name
        BudgetsBudget(
            self,
            "budget",
            name=name,
            budget_type="COST",
            time_unit="DAILY",
            limit_amount=f"{budget.max_usd:.2f}",
            limit_unit="USD",
            cost_filter=[
                BudgetsBudgetCostFilter(name="TagKeyValue", values=[f"user:{TAG_BLUEPRINT}${name}"])
            ],
            notification=[
                BudgetsBudgetNotification(
                    comparison_operator="GREATER_THAN",
                    notification_type="ACTUAL",
                    threshold=percent,
                    threshold_type="PERCENTAGE",
                    subscriber_sns_topic_arns=[self._topic.arn],
                )
                for percent in (80, 100)
            ],
        )
