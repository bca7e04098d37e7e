"""What is put into a bucket is encrypted under the bucket's own key."""

from collections.abc import Iterable, Iterator
from typing import Final

from policies.check import Check
from policies.reading.bucket import bucket_policies, takes_access_logs
from policies.reading.companion import companions, is_same
from policies.reading.denial import Context, Request, condition_keys, is_denied
from policies.reading.stack import Resource, Stack, blocks
from policies.reading.statement import Statement

ALGORITHM: Final = "s3:x-amz-server-side-encryption"
KEY: Final = "s3:x-amz-server-side-encryption-aws-kms-key-id"
_ANY_OTHER: Final = "arn:aws:kms:us-east-1:000000000000:key/another"


class BucketRightKey(Check):
    title = "An object is encrypted under its bucket's own key, whatever a request asks for"
    risk = (
        "An upload that names another key can't be read by those who should, and one under S3's "
        "own key can be read by those who may not use the bucket's."
    )
    remedy = (
        "Encrypt the bucket with the customer key by default, and deny s3:PutObject to everyone "
        "where a request names an algorithm (s3:x-amz-server-side-encryption is there) without "
        "this key (StringNotEquals s3:x-amz-server-side-encryption-aws-kms-key-id), in "
        "infra/constructs/object_area.py."
    )
    source = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html"
    resources = ("aws_s3_bucket",)

    def faults(self, resource: Resource) -> Iterator[str]:
        found = _default_key(resource)
        if found is None:
            # S3 delivers its logs only where it may use the key, which S3's own is.
            if not takes_access_logs(resource):
                yield "no customer key is its default (kms_master_key_id)"
            return
        policies = bucket_policies(resource)
        for context, what in _wrong_requests(resource, found, policies):
            if not is_denied(Request("s3:PutObject", context, "/*"), resource, policies):
                yield f"s3:PutObject is not denied {what}"


def _default_key(bucket: Resource) -> tuple[object, Stack] | None:
    """The customer key that encrypts what no request says more of, and whose stack names it."""
    for conf in companions(bucket, "aws_s3_bucket_server_side_encryption_configuration", "bucket"):
        for rule in conf.blocks("rule"):
            for default in blocks(rule, "apply_server_side_encryption_by_default"):
                key = default.get("kms_master_key_id")
                if str(default.get("sse_algorithm")).startswith("aws:kms") and key:
                    return key, conf.stack
    return None


def _wrong_requests(
    bucket: Resource,
    right: tuple[object, Stack],
    policies: Iterable[tuple[Stack, Iterable[Statement]]],
) -> Iterator[tuple[Context, str]]:
    for key in _wrong_keys(bucket, right, policies):
        yield {ALGORITHM: "aws:kms", KEY: key}, f"where {KEY} is {key}"
    yield {ALGORITHM: "AES256", KEY: None}, f"where {ALGORITHM} is AES256"
    yield {ALGORITHM: "aws:kms", KEY: None}, f"where {ALGORITHM} names no key, so S3's own"


def _wrong_keys(
    bucket: Resource,
    right: tuple[object, Stack],
    policies: Iterable[tuple[Stack, Iterable[Statement]]],
) -> Iterator[str]:
    """A key of nobody, and those that the policy names and that are not the right one."""
    named = {
        (value, stack)
        for stack, statements in policies
        for statement in statements
        for test, key in condition_keys(statement)
        if key.lower() == KEY and test.lower() != "null"
        for value in statement.condition(test, key)
    }
    yield _ANY_OTHER
    for value, stack in sorted(named, key=lambda one: one[0]):
        if not _is_one_key(bucket, right, (value, stack)):
            yield value


def _is_one_key(bucket: Resource, one: tuple[object, Stack], other: tuple[object, Stack]) -> bool:
    first, second = bucket.app.target(*one), bucket.app.target(*other)
    if first is not None and second is not None:
        return is_same(first, second)
    return one[0] == other[0]
