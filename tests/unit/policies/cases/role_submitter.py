from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.role_case import BY_TOKEN, allow, grant, role

KIND = "aws_iam_role"
HERE = "arn:aws:batch:us-east-1:111122223333"
NAMED = [f"{HERE}:job-queue/team-gpu", f"{HERE}:job-definition/team-worker:*"]
SUBMIT = allow("batch:SubmitJob", NAMED)
REGISTER = allow("batch:RegisterJobDefinition", f"{HERE}:job-definition/team-worker")


def plant(trees: Trees) -> None:
    grant(trees, "batch:SubmitJob", REGISTER)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        role(SUBMIT, allow("batch:TerminateJob", f"{HERE}:job/*")),
        role(allow("batch:SubmitJob", [*NAMED, f"{HERE}:job/*"])),
        role(REGISTER),
        role(SUBMIT, REGISTER, trust=BY_TOKEN),
        role(
            allow("batch:SubmitJob", "${aws_batch_job_queue.gpu.arn}"),
            resources={"aws_batch_job_queue": {"gpu": {"name": "team-gpu"}}},
        ),
    ],
    fails=[
        role(SUBMIT, REGISTER),
        role(SUBMIT, allow("batch:Re*", NAMED)),
        role(SUBMIT, allow("iam:PutRolePolicy", "arn:aws:iam::111122223333:role/team-job")),
        role(allow("batch:SubmitJob", f"{HERE}:job-definition/*")),
        role(allow("batch:SubmitJob", [*NAMED, f"{HERE}:*"])),
        role(allow("batch:*", NAMED)),
        role(allow("batch:SubmitJob")),
    ],
    cannot_tell=[
        role(allow("batch:SubmitJob", "${var.queue}")),
        role({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}),
    ],
    plant=plant,
)
