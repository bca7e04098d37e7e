"""Buckets answer to TLS 1.2 and better only."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.bucket import bucket_policies
from policies.reading.denial import Request, is_denied
from policies.reading.stack import Resource

PLAIN: Final = {"aws:SecureTransport": "false", "s3:TlsVersion": None}
OLD: Final = {"aws:SecureTransport": "true", "s3:TlsVersion": "1.1"}
_WHAT: Final = {"": "on the bucket", "/*": "on its objects"}


class BucketTlsOnly(Check):
    title = "A bucket answers to nobody without TLS 1.2 or better"
    risk = "Objects and signatures can be read on their way."
    remedy = (
        "Deny s3:* to everyone, on the bucket and its objects, where aws:SecureTransport is false "
        "and where s3:TlsVersion is below 1.2, in infra/constructs/object_area.py."
    )
    source = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html"
    resources = ("aws_s3_bucket",)

    def faults(self, resource: Resource) -> Iterator[str]:
        policies = bucket_policies(resource)
        if not policies:
            yield "there is no aws_s3_bucket_policy"
            return
        for below, what in _WHAT.items():
            if not is_denied(Request("s3:*", PLAIN, below), resource, policies):
                yield f"no statement denies s3:* {what} where aws:SecureTransport is false"
            if not is_denied(Request("s3:*", OLD, below), resource, policies):
                yield f"no statement denies s3:* {what} where s3:TlsVersion is below 1.2"
