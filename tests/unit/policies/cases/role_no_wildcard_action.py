from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.role_case import allow, document, grant, policy

KIND = "aws_iam_policy"
QUEUE = "arn:aws:sqs:us-east-1:111122223333:team-work"


def plant(trees: Trees) -> None:
    grant(trees, "sqs:SendMessage", allow("sqs:*", QUEUE))


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        policy(allow(["sqs:SendMessage", "sqs:Get*", "ec2:Describe*", "s3:ListBucket*"], QUEUE)),
        policy({"Effect": "Deny", "Action": "*", "Resource": "*"}),
    ],
    fails=[
        policy(allow("*", QUEUE)),
        policy(allow("sqs:*", QUEUE)),
        policy(allow("sqs:Send*", QUEUE)),
        policy(allow("*:Get*", QUEUE)),
        policy(allow("s3:G*", QUEUE)),
        policy({"Effect": "Allow", "NotAction": "iam:*", "Resource": QUEUE}),
    ],
    cannot_tell=[
        policy(allow("${var.action}", QUEUE)),
        one(KIND, policy=document(allow("sqs:SendMessage", QUEUE))[:-1]),
        one(KIND),
    ],
    plant=plant,
)
