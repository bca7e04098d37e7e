import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_s3_bucket"
ENCRYPTION = "aws_s3_bucket_server_side_encryption_configuration"
ALGORITHM = "s3:x-amz-server-side-encryption"
KEY = "s3:x-amz-server-side-encryption-aws-kms-key-id"
RIGHT = "${aws_kms_key.key.arn}"
OTHER = "arn:aws:kms:us-east-1:111122223333:key/other"
ASKED = {"Null": {ALGORITHM: "false"}}


def deny(condition: dict[str, Any], **changes: Any) -> dict[str, Any]:
    said = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject"}
    return {**said, "Resource": "arn:aws:s3:::grain/*", "Condition": condition, **changes}


def bucket(*statements: dict[str, Any], default: str | None = RIGHT) -> Trees:
    by_default = {"sse_algorithm": "aws:kms", "kms_master_key_id": default}
    if default is None:
        by_default = {"sse_algorithm": "AES256"}
    rule = [{"apply_server_side_encryption_by_default": by_default}]
    policy = json.dumps({"Statement": list(statements)})
    return several(
        team_data={
            KIND: {"it": {"bucket": "grain"}},
            "aws_kms_key": {"key": {}, "another": {}},
            ENCRYPTION: {"encryption": {"bucket": "${aws_s3_bucket.it.id}", "rule": rule}},
            "aws_s3_bucket_policy": {"policy": {"bucket": "grain", "policy": policy}},
        }
    )


def logged(trees: Trees, target: str) -> Trees:
    trees["team-data"]["resource"]["aws_s3_bucket_logging"] = {"to": {"target_bucket": target}}
    return trees


def plant(trees: Trees) -> None:
    for conf in of_type(trees, "aws_s3_bucket_policy"):
        conf["policy"] = conf["policy"].replace("s3:PutObject", "s3:PutObjectAcl")


NOT_RIGHT = {"StringNotEquals": {KEY: RIGHT}}
ONE_STATEMENT = deny({**ASKED, **NOT_RIGHT})
"""Whoever names an algorithm must name the key."""
APART = [
    deny({"Null": {KEY: "false"}, **NOT_RIGHT}),
    deny({**ASKED, "StringNotEquals": {ALGORITHM: "aws:kms"}}),
    deny({"StringEquals": {ALGORITHM: "aws:kms"}, "Null": {KEY: True}}),
]

CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        bucket(ONE_STATEMENT),
        bucket(*APART),
        bucket(deny(NOT_RIGHT, Action="s3:*", Resource="*")),
        bucket(deny({**ASKED, "StringNotEquals": {KEY: OTHER}}), default=OTHER),
        bucket(deny({**ASKED, "StringNotEquals": {KEY: "${aws_kms_key.key.id}"}})),
        logged(bucket(default=None), "grain"),
    ],
    fails=[
        one(KIND),
        bucket(default=None),
        bucket(),
        *(bucket(*APART[:at], *APART[at + 1 :]) for at in range(len(APART))),
        bucket(deny({**ASKED, "StringNotEquals": {KEY: [RIGHT, OTHER]}})),
        bucket(deny({**ASKED, "StringNotEquals": {KEY: "${aws_kms_key.another.arn}"}})),
        bucket(deny({**ASKED, **NOT_RIGHT}, Resource="arn:aws:s3:::grain/runs/*")),
        bucket(deny({**ASKED, **NOT_RIGHT}, Principal={"AWS": "111122223333"})),
        bucket(deny({**ASKED, "ArnNotEquals": {KEY: RIGHT}})),
    ],
    cannot_tell=[
        logged(bucket(default=None), "${data.aws_s3_bucket.logs.id}"),
        bucket(deny({**ASKED, **NOT_RIGHT}, Resource="${local.objects}")),
    ],
    plant=plant,
)
