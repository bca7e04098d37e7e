from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_s3_bucket"
LIFECYCLE = "aws_s3_bucket_lifecycle_configuration"
SWEEP: dict[str, Any] = {
    "status": "Enabled",
    "filter": [{"prefix": ""}],
    "abort_incomplete_multipart_upload": [{"days_after_initiation": 2}],
}


def bucket(of: str = "${aws_s3_bucket.it.id}", **changes: Any) -> Trees:
    return several(
        team_data={
            KIND: {"it": {}},
            LIFECYCLE: {"lifecycle": {"bucket": of, "rule": {**SWEEP, **changes}}},
        }
    )


def plant(trees: Trees) -> None:
    for lifecycle in of_type(trees, LIFECYCLE):
        for rule in lifecycle["rule"]:
            del rule["abort_incomplete_multipart_upload"]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[bucket(), bucket(filter={}), bucket(filter=None)],
    fails=[
        one(KIND),
        bucket(status="Disabled"),
        bucket(filter={"prefix": "runs/"}),
        bucket(prefix="runs/"),
        bucket(abort_incomplete_multipart_upload=None),
    ],
    cannot_tell=[
        bucket(status="${var.status}"),
        bucket(abort_incomplete_multipart_upload={"days_after_initiation": "${var.days}"}),
        bucket("${data.aws_s3_bucket.it.id}"),
    ],
    plant=plant,
)
