"""A customer key, with the services of AWS that may use it."""

from typing import Any, Final

from cdktn import TerraformResourceLifecycle
from cdktn_provider_aws.kms_alias import KmsAlias
from cdktn_provider_aws.kms_key import KmsKey
from constructs import Construct

from infra.policy import Statement, document

DELETION_DAYS: Final = 30
_NOTIFIERS: Final = ("cloudwatch.amazonaws.com", "events.amazonaws.com", "budgets.amazonaws.com")


class Key(Construct):
    """Rotated yearly. The account's IAM policies decide who uses it, beside the services below."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        account: str,
        region: str,
        log_groups: str,
        protect: bool,
    ) -> None:
        super().__init__(scope, id_)
        self._region = region
        self._key = KmsKey(
            self,
            "key",
            description=f"Data, logs and alerts of {name}",
            enable_key_rotation=True,
            deletion_window_in_days=DELETION_DAYS,
            policy=document(_policy(account, region, log_groups)),
            lifecycle=TerraformResourceLifecycle(prevent_destroy=True) if protect else None,
        )
        KmsAlias(self, "alias", name=f"alias/gristmill/{name}", target_key_id=self._key.key_id)

    @property
    def arn(self) -> str:
        return self._key.arn


def key_use(arn: str, region: str, *, write: bool) -> Statement:
    """Reading or writing objects under a key, through S3 only."""
    return Statement(
        actions=("kms:Decrypt", "kms:GenerateDataKey") if write else ("kms:Decrypt",),
        resources=(arn,),
        conditions={"StringEquals": {"kms:ViaService": f"s3.{region}.amazonaws.com"}},
    )


def _policy(account: str, region: str, log_groups: str) -> list[dict[str, Any]]:
    return [
        {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
            "Action": "kms:*",
            "Resource": "*",
        },
        {
            "Effect": "Allow",
            "Principal": {"Service": f"logs.{region}.amazonaws.com"},
            "Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*"],
            "Resource": "*",
            "Condition": {
                "ArnLike": {
                    "kms:EncryptionContext:aws:logs:arn": (
                        f"arn:aws:logs:{region}:{account}:log-group:{log_groups}"
                    )
                }
            },
        },
        {
            "Effect": "Allow",
            "Principal": {"Service": list(_NOTIFIERS)},
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:SourceAccount": account}},
        },
    ]
