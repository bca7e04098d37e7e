from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_s3_bucket"
BLOCK = "aws_s3_bucket_public_access_block"
CLOSED: dict[str, Any] = {
    "block_public_acls": True,
    "block_public_policy": True,
    "ignore_public_acls": True,
    "restrict_public_buckets": True,
}


def bucket(of: str = "${aws_s3_bucket.it.id}", **changes: Any) -> Trees:
    return several(
        team_data={
            KIND: {"it": {"bucket": "grain"}, "other": {}},
            BLOCK: {"block": {"bucket": of, **CLOSED, **changes}},
        }
    )


def plant(trees: Trees) -> None:
    for block in of_type(trees, BLOCK):
        del block["restrict_public_buckets"]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[bucket(), bucket("grain", block_public_acls="true")],
    fails=[
        one(KIND),
        bucket(block_public_policy=False),
        bucket(ignore_public_acls=None),
        bucket("${aws_s3_bucket.other.id}"),
    ],
    cannot_tell=[
        bucket(block_public_acls="${var.closed}"),
        bucket("${data.aws_s3_bucket.it.id}"),
    ],
    plant=plant,
)
