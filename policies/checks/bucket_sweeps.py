"""Uploads that nobody finished are cleared away."""

from collections.abc import Iterator, Mapping
from typing import Any

from policies.check import Check
from policies.reading.companion import companions
from policies.reading.stack import Resource, blocks, literal
from policies.reading.value import number


class BucketSweeps(Check):
    title = "A bucket clears away uploads that nobody finished"
    risk = "Parts of uploads that a reclaim cut off are paid for and shown in no listing."
    remedy = (
        "Give the bucket a lifecycle rule for all its objects with "
        "abort_incomplete_multipart_upload, as infra/constructs/object_area.py does."
    )
    source = (
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/"
        "mpu-abort-incomplete-mpu-lifecycle-config.html"
    )
    resources = ("aws_s3_bucket",)

    def faults(self, resource: Resource) -> Iterator[str]:
        lifecycles = companions(resource, "aws_s3_bucket_lifecycle_configuration", "bucket")
        rules = [rule for lifecycle in lifecycles for rule in lifecycle.blocks("rule")]
        if not lifecycles:
            yield "there is no aws_s3_bucket_lifecycle_configuration"
        elif not any(_sweeps(rule) for rule in rules):
            yield "no enabled rule for all objects has abort_incomplete_multipart_upload"


def _sweeps(rule: Mapping[str, Any]) -> bool:
    days = [
        number(abort.get("days_after_initiation"), "days_after_initiation")
        for abort in blocks(rule, "abort_incomplete_multipart_upload")
    ]
    narrowed = any(value for scope in blocks(rule, "filter") for value in scope.values())
    enabled = literal(rule.get("status"), "rule.status") == "Enabled"
    return bool(days) and enabled and not narrowed and not rule.get("prefix")
