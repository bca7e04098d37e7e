"""Whatever is in a bucket belongs to its owner."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.stack import Resource, literal

ENFORCED: Final = "BucketOwnerEnforced"


class BucketOwner(Check):
    title = "A bucket's owner owns each object in it, and no ACL counts"
    risk = "Who uploads an object can keep its readers out, or let others in by an ACL."
    remedy = (
        "Give the bucket aws_s3_bucket_ownership_controls with BucketOwnerEnforced, as "
        "infra/constructs/object_area.py does."
    )
    source = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html"
    resources = ("aws_s3_bucket",)

    def faults(self, resource: Resource) -> Iterator[str]:
        found = companions(resource, "aws_s3_bucket_ownership_controls", "bucket")
        if not found:
            yield "there are no aws_s3_bucket_ownership_controls"
        for controls in found:
            owner = controls.block("rule").get("object_ownership")
            if literal(owner, f"{controls.path}: rule.object_ownership") != ENFORCED:
                yield f"rule.object_ownership is {owner}, must be {ENFORCED}"
