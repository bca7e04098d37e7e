import json
from collections.abc import Mapping
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type
from tests.unit.policies.role_case import stack

KIND = "aws_batch_job_queue"
ARN = "arn:aws:batch:us-east-1:111122223333:job-queue/"
BLOCKED = {"source": ["aws.batch"], "detail-type": ["Batch Job Queue Blocked"]}
RULE = "aws_cloudwatch_event_rule"
TARGET = {"blocked": {"rule": "${aws_cloudwatch_event_rule.blocked.name}", "arn": "a"}}


def heard(
    pattern: Mapping[str, Any], targets: Mapping[str, Any] | None = TARGET, **rule: Any
) -> Trees:
    resources = {
        KIND: {"it": {"name": "team-gpu"}},
        RULE: {"blocked": {"event_pattern": json.dumps(pattern), **rule}},
        "aws_cloudwatch_event_target": targets or {},
    }
    return {"team-compute": stack(resources)}


def plant(trees: Trees) -> None:
    for rule in of_type(trees, RULE):
        rule["event_pattern"] = rule["event_pattern"].replace("Queue Blocked", "State Change")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        heard(BLOCKED),
        heard({**BLOCKED, "resources": [f"{ARN}team-gpu", f"{ARN}other"]}),
        heard({**BLOCKED, "resources": ["${aws_batch_job_queue.it.arn}"]}),
    ],
    fails=[
        {"team-compute": stack({KIND: {"it": {"name": "team-gpu"}}})},
        heard({**BLOCKED, "resources": [f"{ARN}other"]}),
        heard({**BLOCKED, "detail-type": ["Batch Job State Change"]}),
        heard(BLOCKED, targets=None),
        heard(BLOCKED, state="DISABLED"),
    ],
    cannot_tell=[
        heard(BLOCKED, event_pattern="${jsonencode(local.pattern)}"),
        heard({**BLOCKED, "resources": [{"prefix": ARN}]}),
        heard(BLOCKED, targets={"blocked": {"rule": "${var.rule}"}}),
        {"team-compute": stack({KIND: {"it": {"name": "team-gpu"}}}, {})},
    ],
    plant=plant,
)
