import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_s3_bucket"
BOTH = ["arn:aws:s3:::grain", "arn:aws:s3:::grain/*"]
PLAIN: dict[str, Any] = {"Bool": {"aws:SecureTransport": "false"}}
OLD: dict[str, Any] = {"NumericLessThan": {"s3:TlsVersion": "1.2"}}


def deny(condition: dict[str, Any], **changes: Any) -> dict[str, Any]:
    said = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": BOTH}
    return {**said, "Condition": condition, **changes}


def bucket(*statements: dict[str, Any], of: str = "${aws_s3_bucket.it.id}") -> Trees:
    policy = json.dumps({"Statement": list(statements)})
    return several(
        team_data={
            KIND: {"it": {"bucket": "grain"}},
            "aws_s3_bucket_policy": {"policy": {"bucket": of, "policy": policy}},
        }
    )


def plant(trees: Trees) -> None:
    for conf in of_type(trees, "aws_s3_bucket_policy"):
        conf["policy"] = conf["policy"].replace('"1.2"', '"1.0"')


TOKENS = ["${aws_s3_bucket.it.arn}", "${aws_s3_bucket.it.arn}/*"]

CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        bucket(deny(PLAIN), deny(OLD)),
        bucket(deny(PLAIN), deny({"NumericLessThan": {"s3:TlsVersion": 1.3}}), of="grain"),
        bucket(deny(PLAIN, Resource=TOKENS), deny(OLD, Resource="*", Principal={"AWS": "*"})),
    ],
    fails=[
        one(KIND),
        bucket(),
        bucket(deny(PLAIN)),
        bucket(deny(OLD)),
        bucket(deny(PLAIN), deny({"NumericLessThan": {"s3:TlsVersion": "1.1"}})),
        bucket(deny(PLAIN), deny(OLD, Resource=BOTH[:1])),
        bucket(deny(PLAIN, Resource=BOTH[1:]), deny(OLD)),
        bucket(deny(PLAIN), deny({**OLD, "StringEquals": {"aws:PrincipalAccount": "1"}})),
        bucket(deny(PLAIN), deny(OLD, Principal={"AWS": "arn:aws:iam::111122223333:root"})),
        bucket(deny({**PLAIN, **OLD})),
    ],
    cannot_tell=[
        bucket(deny(PLAIN), deny({"NumericLessThan": {"s3:TlsVersion": "${var.least}"}})),
        bucket(deny(PLAIN), deny(OLD, Resource="${local.bucket}/*")),
        bucket(deny(PLAIN), deny(OLD), of="${data.aws_s3_bucket.it.id}"),
        several(
            team_data={
                KIND: {"it": {}},
                "aws_s3_bucket_policy": {
                    "policy": {
                        "bucket": "${aws_s3_bucket.it.id}",
                        "policy": "${data.aws_iam_policy_document.tls.json}",
                    }
                },
            }
        ),
    ],
    plant=plant,
)
