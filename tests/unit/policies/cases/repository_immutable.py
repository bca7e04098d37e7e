from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_ecr_repository"
RIGHT: dict[str, Any] = {
    "image_tag_mutability": "IMMUTABLE",
    "image_scanning_configuration": {"scan_on_push": True},
    "encryption_configuration": [{"encryption_type": "KMS", "kms_key": "${aws_kms_key.key.arn}"}],
}


def repository(**changes: Any) -> Trees:
    return one(KIND, **{**RIGHT, **changes})


def plant(trees: Trees) -> None:
    for conf in of_type(trees, KIND):
        conf["image_tag_mutability"] = "MUTABLE"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        repository(),
        repository(image_scanning_configuration=[{"scan_on_push": "true"}]),
    ],
    fails=[
        one(KIND),
        repository(image_tag_mutability=None),
        repository(image_scanning_configuration={"scan_on_push": False}),
        repository(encryption_configuration={"encryption_type": "AES256"}),
        repository(encryption_configuration={"encryption_type": "KMS"}),
    ],
    cannot_tell=[
        repository(image_tag_mutability="${var.tags}"),
        repository(image_scanning_configuration="${local.scan}"),
        repository(encryption_configuration={"encryption_type": "${var.kind}"}),
    ],
    plant=plant,
)
