from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_scheduler_schedule"
ROLE = "arn:aws:iam::111122223333:role/team-scheduler"
RETRY = {"maximum_retry_attempts": 3, "maximum_event_age_in_seconds": 3600}


def schedule(**target: Any) -> Trees:
    return one(KIND, target={"role_arn": ROLE, "retry_policy": RETRY, **target})


def plant(trees: Trees) -> None:
    for conf in of_type(trees, KIND):
        conf["target"].pop("retry_policy")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[schedule(), schedule(retry_policy=[RETRY])],
    fails=[
        one(KIND),
        schedule(role_arn="arn:aws:iam::111122223333:role/*"),
        schedule(retry_policy=None),
        schedule(retry_policy={**RETRY, "maximum_retry_attempts": 0}),
        schedule(retry_policy={**RETRY, "maximum_event_age_in_seconds": "86400"}),
    ],
    cannot_tell=[
        schedule(role_arn="${var.role}"),
        schedule(retry_policy={**RETRY, "maximum_retry_attempts": "${var.attempts}"}),
    ],
    plant=plant,
)
