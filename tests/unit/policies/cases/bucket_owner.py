from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_s3_bucket"
CONTROLS = "aws_s3_bucket_ownership_controls"


def bucket(rule: Any, of: str = "${aws_s3_bucket.it.id}") -> Trees:
    return several(
        team_data={KIND: {"it": {}}, CONTROLS: {"controls": {"bucket": of, "rule": rule}}}
    )


def plant(trees: Trees) -> None:
    for controls in of_type(trees, CONTROLS):
        controls["rule"]["object_ownership"] = "ObjectWriter"


ENFORCED = {"object_ownership": "BucketOwnerEnforced"}

CASES = Cases(
    judged=f"{KIND}.it",
    passes=[bucket(ENFORCED), bucket([ENFORCED])],
    fails=[one(KIND), bucket({"object_ownership": "BucketOwnerPreferred"}), bucket([])],
    cannot_tell=[
        bucket({"object_ownership": "${var.owner}"}),
        bucket("${local.rule}"),
        bucket(ENFORCED, "${data.aws_s3_bucket.it.id}"),
    ],
    plant=plant,
)
