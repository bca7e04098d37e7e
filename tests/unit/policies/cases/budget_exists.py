from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.role_case import TAGS, stack

KIND = "aws_batch_job_definition"
FILTER = {"name": "TagKeyValue", "values": ["user:gristmill:blueprint$team"]}
TELL = {"threshold": 80, "subscriber_sns_topic_arns": ["${aws_sns_topic.alerts.arn}"]}
BUDGET = {"limit_amount": "200.00", "cost_filter": [FILTER], "notification": [TELL]}
DEFINITION = {KIND: {"it": {"platform_capabilities": ["EC2"]}}}


def team(**changes: Any) -> Trees:
    budgets = {"aws_budgets_budget": {"budget": {**BUDGET, **changes}}}
    return {"team-compute": stack(DEFINITION), "team-observability": stack(budgets)}


def plant(trees: Trees) -> None:
    for tree in trees.values():
        tree["resource"].pop("aws_budgets_budget", None)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        team(),
        team(limit_amount=5, notification={"subscriber_email_addresses": ["you@your.company"]}),
        {"team-compute": stack({KIND: {"it": {"platform_capabilities": ["FARGATE"]}}})},
    ],
    fails=[
        {"team-compute": stack(DEFINITION)},
        {
            "team-compute": stack(DEFINITION),
            "their-observability": stack(
                {"aws_budgets_budget": {"budget": BUDGET}},
                {**TAGS, "gristmill:blueprint": "theirs"},
            ),
        },
        team(limit_amount="0"),
        team(limit_amount=None),
        team(cost_filter=[]),
        team(cost_filter=[{**FILTER, "values": ["user:gristmill:blueprint$theirs"]}]),
        team(notification=[{"threshold": 80}]),
    ],
    cannot_tell=[
        team(limit_amount="${var.limit}"),
        team(cost_filter=[{**FILTER, "values": ["${var.tag}"]}]),
        {"team-compute": stack(DEFINITION, {})},
    ],
    plant=plant,
)
