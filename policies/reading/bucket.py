"""What stands around a bucket: its policy, and whether S3 delivers access logs into it."""

from policies.reading.companion import companions
from policies.reading.stack import Resource, Stack
from policies.reading.statement import Statement, statements


def bucket_policies(bucket: Resource) -> list[tuple[Stack, tuple[Statement, ...]]]:
    """The statements of its policy and the stack that it stands in; empty where it has none."""
    return [
        (policy.stack, statements(policy.conf.get("policy"), f"{policy.path}: policy"))
        for policy in companions(bucket, "aws_s3_bucket_policy", "bucket")
    ]


def takes_access_logs(bucket: Resource) -> bool:
    return bool(companions(bucket, "aws_s3_bucket_logging", "target_bucket"))
