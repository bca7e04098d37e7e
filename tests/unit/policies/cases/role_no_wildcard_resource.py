from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.role_case import allow, grant, policy

KIND = "aws_iam_policy"
TAGGED = {"aws:RequestTag/gristmill:platform": "grist"}
REGION = {"ec2:Region": "us-east-1"}


def plant(trees: Trees) -> None:
    grant(trees, "sqs:SendMessage", allow("sqs:SendMessage"))


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        policy(allow("s3:GetObject", "arn:aws:s3:::data/in/*")),
        policy(allow("ec2:DescribeVpcAttribute", "arn:aws:ec2:us-east-1:111122223333:vpc/*")),
        policy(allow(["ecr:GetAuthorizationToken", "batch:describejobs"])),
        policy(allow("kms:CreateKey", Condition={"StringEquals": TAGGED})),
        policy({"Effect": "Deny", "Action": "*", "Resource": "*"}),
    ],
    fails=[
        policy(allow("sqs:SendMessage")),
        policy(allow(["batch:DescribeJobs", "batch:SubmitJob"])),
        policy(allow("ec2:Describe*")),
        policy(allow("s3:GetObject", ["arn:aws:s3:::data/in/*", "arn:aws:s3:::*/in/*"])),
        policy(allow("kms:Decrypt", "arn:aws:kms:*:*:key/*")),
        policy(allow("kms:CreateKey", Condition={"StringLike": TAGGED})),
        policy(allow("ec2:CreateVpc", Condition={"StringEquals": REGION})),
        policy({"Effect": "Allow", "Action": "s3:GetObject", "NotResource": "arn:aws:s3:::a/*"}),
    ],
    cannot_tell=[
        policy(allow("sqs:SendMessage", "${var.queue}")),
        one(KIND, policy="${data.aws_iam_policy_document.it.json}"),
        one(KIND, policy='{"Statement": {"Effect": "${var.effect}"}}'),
    ],
    plant=plant,
)
