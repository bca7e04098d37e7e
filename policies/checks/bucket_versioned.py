"""What is overwritten or deleted can be had back."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.bucket import takes_access_logs
from policies.reading.companion import companions
from policies.reading.stack import Resource, literal

ENABLED: Final = "Enabled"


class BucketVersioned(Check):
    title = "A bucket keeps what is overwritten or deleted, unless it holds access logs"
    risk = "A mistake or a stolen credential destroys inputs, models or results for good."
    remedy = (
        "Give the bucket aws_s3_bucket_versioning with status Enabled, as "
        "infra/constructs/object_area.py does; platform.yaml says how long old versions are kept."
    )
    source = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html"
    resources = ("aws_s3_bucket",)

    def faults(self, resource: Resource) -> Iterator[str]:
        # Logs are only ever added by S3, and expire.
        if takes_access_logs(resource):
            return
        found = companions(resource, "aws_s3_bucket_versioning", "bucket")
        if not found:
            yield "there is no aws_s3_bucket_versioning"
        for versioning in found:
            status = versioning.block("versioning_configuration").get("status")
            if literal(status, f"{versioning.path}: status") != ENABLED:
                yield f"versioning_configuration.status is {status}, must be {ENABLED}"
