from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.role_case import allow, equals, grant, policy

KIND = "aws_iam_policy"
ROLE = "arn:aws:iam::111122223333:role/team-job"
TO_JOBS = equals(iam__PassedToService="ecs-tasks.amazonaws.com")


def plant(trees: Trees) -> None:
    grant(trees, "batch:SubmitJob", allow("iam:PassRole", "*", Condition=TO_JOBS))


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        policy(allow("iam:PassRole", ROLE, Condition=TO_JOBS)),
        policy(allow("iam:GetRole")),
    ],
    fails=[
        policy(allow("iam:PassRole", ROLE)),
        policy(allow("iam:PassRole", ROLE, Condition=equals(iam__PassedToService="*"))),
        policy(allow("iam:PassRole", "arn:aws:iam::111122223333:role/team-*", Condition=TO_JOBS)),
        policy(allow("iam:P*", Condition=TO_JOBS)),
    ],
    cannot_tell=[
        policy(allow("iam:PassRole", "${var.role}", Condition=TO_JOBS)),
        policy(allow("iam:PassRole", ROLE, Condition=equals(iam__PassedToService="${var.to}"))),
        one(KIND, policy="${var.policy}"),
    ],
    plant=plant,
)
