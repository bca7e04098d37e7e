"""Buckets: made here, or looked after by others. Permission is granted on the area."""

from dataclasses import dataclass
from typing import Any, Final

from cdktn import TerraformResourceLifecycle
from cdktn_provider_aws.s3_bucket import S3Bucket
from cdktn_provider_aws.s3_bucket_lifecycle_configuration import (
    S3BucketLifecycleConfiguration,
    S3BucketLifecycleConfigurationRule,
    S3BucketLifecycleConfigurationRuleAbortIncompleteMultipartUpload,
    S3BucketLifecycleConfigurationRuleExpiration,
    S3BucketLifecycleConfigurationRuleFilter,
    S3BucketLifecycleConfigurationRuleNoncurrentVersionExpiration,
)
from cdktn_provider_aws.s3_bucket_logging import S3BucketLoggingA
from cdktn_provider_aws.s3_bucket_ownership_controls import (
    S3BucketOwnershipControls,
    S3BucketOwnershipControlsRule,
)
from cdktn_provider_aws.s3_bucket_policy import S3BucketPolicy
from cdktn_provider_aws.s3_bucket_public_access_block import S3BucketPublicAccessBlock
from cdktn_provider_aws.s3_bucket_server_side_encryption_configuration import (
    S3BucketServerSideEncryptionConfigurationA,
    S3BucketServerSideEncryptionConfigurationRuleA,
    S3BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultA,
)
from cdktn_provider_aws.s3_bucket_versioning import (
    S3BucketVersioningA,
    S3BucketVersioningVersioningConfiguration,
)
from constructs import Construct

from infra.constructs.key import key_use
from infra.constructs.role import JobRole
from infra.policy import Statement, document

UPLOAD_DAYS: Final = 2
"""An upload that is not finished by then never will be."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long a bucket keeps what. None: as long as nobody deletes it."""

    object_days: int | None = None
    old_version_days: int | None = None


class _Granting:
    """Grants on a bucket, or on a prefix of it.

    S3 says that an object is missing only to those who may list the whole bucket, and refuses
    permission to others. So whoever asks for what may not be there is granted a bucket of its own.
    """

    bucket: str
    key: str | None
    region: str

    def grant_read(self, role: JobRole, grant: str, prefix: str = "") -> None:
        """List below the prefix, and get what is there."""
        role.allow(grant, [self._list(prefix), *self._objects(prefix, ("s3:GetObject",))])

    def grant_write(self, role: JobRole, grant: str, prefix: str = "") -> None:
        """Read, and put. Never delete: what is published stays published."""
        actions = ("s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload")
        role.allow(grant, [self._list(prefix), *self._objects(prefix, actions)])

    def _list(self, prefix: str) -> Statement:
        below: dict[str, dict[str, str | list[str]]] = {"StringLike": {"s3:prefix": [f"{prefix}*"]}}
        return Statement(
            ("s3:ListBucket",), (f"arn:aws:s3:::{self.bucket}",), below if prefix else {}
        )

    def _objects(self, prefix: str, actions: tuple[str, ...]) -> list[Statement]:
        objects = Statement(actions, (f"arn:aws:s3:::{self.bucket}/{prefix}*",))
        if self.key is None:
            return [objects]
        return [objects, key_use(self.key, self.region, write="s3:PutObject" in actions)]


@dataclass(frozen=True, slots=True)
class ExistingArea(_Granting):
    """A bucket that others look after."""

    bucket: str
    key: str | None
    region: str


class ObjectArea(_Granting, Construct):
    """A private bucket: encrypted under the team's key, TLS only, versioned, logged, swept."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        bucket: str,
        key: str,
        region: str,
        logs: "AccessLogs",
        keeping: Keeping,
        protect: bool,
    ) -> None:
        Construct.__init__(self, scope, id_)
        self.bucket, self.key, self.region = bucket, key, region
        made = _private_bucket(self, bucket, protect)
        self._encrypt(made, key)
        _deny_wrong_transport(self, made, bucket, key)
        S3BucketVersioningA(
            self,
            "versioning",
            bucket=made.id,
            versioning_configuration=S3BucketVersioningVersioningConfiguration(status="Enabled"),
        )
        S3BucketLoggingA(
            self, "logging", bucket=made.id, target_bucket=logs.bucket, target_prefix=f"{bucket}/"
        )
        _sweep(self, made, keeping)

    def _encrypt(self, made: S3Bucket, key: str) -> None:
        by_default = (
            S3BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultA(
                sse_algorithm="aws:kms", kms_master_key_id=key
            )
        )
        S3BucketServerSideEncryptionConfigurationA(
            self,
            "encryption",
            bucket=made.id,
            rule=[
                S3BucketServerSideEncryptionConfigurationRuleA(
                    apply_server_side_encryption_by_default=by_default, bucket_key_enabled=True
                )
            ],
        )


class AccessLogs(Construct):
    """Who read what. Under S3's own key: the log service can't use a customer's without more."""

    def __init__(
        self, scope: Construct, id_: str, *, bucket: str, account: str, days: int, protect: bool
    ) -> None:
        super().__init__(scope, id_)
        made = _private_bucket(self, bucket, protect)
        deliver = {
            "Effect": "Allow",
            "Principal": {"Service": "logging.s3.amazonaws.com"},
            "Action": "s3:PutObject",
            "Resource": f"arn:aws:s3:::{bucket}/*",
            "Condition": {"StringEquals": {"aws:SourceAccount": account}},
        }
        _deny_wrong_transport(self, made, bucket, None, deliver)
        by_default = (
            S3BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultA(
                sse_algorithm="AES256"
            )
        )
        S3BucketServerSideEncryptionConfigurationA(
            self,
            "encryption",
            bucket=made.id,
            rule=[
                S3BucketServerSideEncryptionConfigurationRuleA(
                    apply_server_side_encryption_by_default=by_default
                )
            ],
        )
        _sweep(self, made, Keeping(object_days=days))
        self.bucket = made.id


def _private_bucket(scope: Construct, name: str, protect: bool) -> S3Bucket:
    made = S3Bucket(
        scope,
        "bucket",
        bucket=name,
        force_destroy=not protect,
        lifecycle=TerraformResourceLifecycle(prevent_destroy=True) if protect else None,
    )
    S3BucketPublicAccessBlock(
        scope,
        "public-access",
        bucket=made.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
    )
    S3BucketOwnershipControls(
        scope,
        "ownership",
        bucket=made.id,
        rule=S3BucketOwnershipControlsRule(object_ownership="BucketOwnerEnforced"),
    )
    return made


def _deny_wrong_transport(
    scope: Construct, made: S3Bucket, name: str, key: str | None, *also: dict[str, Any]
) -> None:
    everything = [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"]
    deny: dict[str, Any] = {"Effect": "Deny", "Principal": "*"}
    statements = [
        {
            **deny,
            "Action": "s3:*",
            "Resource": everything,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
        {
            **deny,
            "Action": "s3:*",
            "Resource": everything,
            "Condition": {"NumericLessThan": {"s3:TlsVersion": "1.2"}},
        },
        *also,
    ]
    if key is not None:
        named = "s3:x-amz-server-side-encryption-aws-kms-key-id"
        statements.append(
            {
                **deny,
                "Action": "s3:PutObject",
                "Resource": f"arn:aws:s3:::{name}/*",
                # A request that names nothing gets the bucket's key; one that names an algorithm
                # without a key would get S3's own.
                "Condition": {
                    "Null": {"s3:x-amz-server-side-encryption": "false"},
                    "StringNotEquals": {named: key},
                },
            }
        )
    S3BucketPolicy(scope, "policy", bucket=made.id, policy=document(statements))


def _sweep(scope: Construct, made: S3Bucket, keeping: Keeping) -> None:
    days, old_days = keeping.object_days, keeping.old_version_days
    S3BucketLifecycleConfiguration(
        scope,
        "lifecycle",
        bucket=made.id,
        rule=[
            S3BucketLifecycleConfigurationRule(
                id="sweep",
                status="Enabled",
                filter=[S3BucketLifecycleConfigurationRuleFilter(prefix="")],
                abort_incomplete_multipart_upload=[
                    S3BucketLifecycleConfigurationRuleAbortIncompleteMultipartUpload(
                        days_after_initiation=UPLOAD_DAYS
                    )
                ],
                expiration=(
                    [S3BucketLifecycleConfigurationRuleExpiration(days=days)] if days else None
                ),
                noncurrent_version_expiration=(
                    [
                        S3BucketLifecycleConfigurationRuleNoncurrentVersionExpiration(
                            noncurrent_days=old_days
                        )
                    ]
                    if old_days
                    else None
                ),
            )
        ],
    )
