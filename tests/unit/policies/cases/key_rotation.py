from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_kms_key"


def plant(trees: Trees) -> None:
    for key in of_type(trees, KIND):
        key["enable_key_rotation"] = False


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, enable_key_rotation=True),
        one(KIND, enable_key_rotation="true", deletion_window_in_days="7"),
    ],
    fails=[
        one(KIND),
        one(KIND, enable_key_rotation=True, deletion_window_in_days=1),
    ],
    cannot_tell=[
        one(KIND, enable_key_rotation="${var.rotated}"),
        one(KIND, enable_key_rotation=True, deletion_window_in_days="${var.days}"),
    ],
    plant=plant,
)
