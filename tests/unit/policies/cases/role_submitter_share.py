from collections.abc import Mapping
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type
from tests.unit.policies.role_case import BY_ACCOUNT, allow, role, stack

KIND = "aws_iam_role"
HERE = "arn:aws:batch:us-east-1:111122223333"
QUEUES = {
    "aws_batch_job_queue": {
        "gpu": {
            "name": "team-gpu",
            "scheduling_policy_arn": "${aws_batch_scheduling_policy.a.arn}",
        },
        "small": {"name": "team-small"},
    }
}
TAGS = {"aws:RequestTag/gristmill:blueprint": "team", "aws:RequestTag/gristmill:team": "ours"}
SHARE = {"batch:ShareIdentifier": "ours"}


def submit(queue: str, condition: Mapping[str, str]) -> Mapping[str, Any]:
    named = [f"{HERE}:job-queue/{queue}", f"{HERE}:job-definition/team-worker:*"]
    return allow("batch:SubmitJob", named, Condition={"StringEquals": condition})


def submitter(*statements: Mapping[str, Any]) -> Trees:
    return role(*statements, trust=BY_ACCOUNT, resources=QUEUES)


def untagged() -> Trees:
    trees = submitter(submit("team-small", TAGS))
    return {name: stack(tree["resource"], tags={}) for name, tree in trees.items()}


def plant(trees: Trees) -> None:
    for conf in of_type(trees, "aws_iam_role_policy"):
        conf["policy"] = conf["policy"].replace("batch:ShareIdentifier", "aws:PrincipalTag/share")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        submitter(submit("team-gpu", {**TAGS, **SHARE})),
        submitter(submit("team-small", TAGS)),
        submitter(allow("s3:GetObject", "arn:aws:s3:::data/in/*")),
    ],
    fails=[
        submitter(submit("team-gpu", TAGS)),
        submitter(submit("team-gpu", {**TAGS, "batch:ShareIdentifier": "*"})),
        submitter(submit("team-small", SHARE)),
        submitter(submit("team-small", {**TAGS, "aws:RequestTag/gristmill:team": "theirs"})),
        submitter(allow("batch:SubmitJob", Condition={"StringEquals": TAGS})),
        submitter(submit("team-small", TAGS), allow("batch:TerminateJob", f"{HERE}:job/*")),
    ],
    cannot_tell=[
        submitter(submit("elsewhere", TAGS)),
        submitter(submit("team-gpu", {**TAGS, "batch:ShareIdentifier": "${var.share}"})),
        untagged(),
    ],
    plant=plant,
)
