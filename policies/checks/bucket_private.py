"""Buckets are private, whatever a policy or an ACL says."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.stack import Resource
from policies.reading.value import truth

SWITCHES: Final = (
    "block_public_acls",
    "block_public_policy",
    "ignore_public_acls",
    "restrict_public_buckets",
)


class BucketPrivate(Check):
    title = "No policy and no ACL can make a bucket public"
    risk = "One wrong statement, and anybody on the internet reads the data."
    remedy = (
        "Give the bucket an aws_s3_bucket_public_access_block with all four set to true, as "
        "infra/constructs/object_area.py does."
    )
    source = (
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/"
        "access-control-block-public-access.html"
    )
    resources = ("aws_s3_bucket",)

    def faults(self, resource: Resource) -> Iterator[str]:
        found = companions(resource, "aws_s3_bucket_public_access_block", "bucket")
        if not found:
            yield "there is no aws_s3_bucket_public_access_block"
        for block in found:
            for switch in SWITCHES:
                value = block.conf.get(switch)
                if not truth(value, f"{block.path}: {switch}"):
                    yield f"{switch} is {value}, must be true"
