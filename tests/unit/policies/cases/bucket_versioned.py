from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_s3_bucket"
VERSIONING = "aws_s3_bucket_versioning"


def bucket(conf: Any, of: str = "${aws_s3_bucket.it.id}") -> Trees:
    versioning = {"bucket": of, "versioning_configuration": conf}
    return several(team_data={KIND: {"it": {}}, VERSIONING: {"versioning": versioning}})


def logged(target: str) -> Trees:
    return several(
        team_data={
            KIND: {"it": {}, "source": {}},
            "aws_s3_bucket_logging": {
                "to": {"bucket": "${aws_s3_bucket.source.id}", "target_bucket": target}
            },
        }
    )


def plant(trees: Trees) -> None:
    for versioning in of_type(trees, VERSIONING):
        versioning["versioning_configuration"]["status"] = "Suspended"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        bucket({"status": "Enabled"}),
        bucket([{"status": "Enabled"}]),
        logged("${aws_s3_bucket.it.id}"),
    ],
    fails=[one(KIND), bucket({"status": "Suspended"}), bucket([])],
    cannot_tell=[
        bucket({"status": "${var.status}"}),
        bucket({"status": "Enabled"}, "${data.aws_s3_bucket.it.id}"),
        logged("${data.aws_s3_bucket.logs.id}"),
    ],
    plant=plant,
)
