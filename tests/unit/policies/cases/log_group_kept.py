from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_cloudwatch_log_group"
KEY = "${aws_kms_key.key.arn}"


def plant(trees: Trees) -> None:
    for group in of_type(trees, KIND):
        del group["retention_in_days"]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, retention_in_days=30, kms_key_id=KEY),
        one(KIND, retention_in_days="30", kms_key_id=KEY),
    ],
    fails=[
        one(KIND, kms_key_id=KEY),
        one(KIND, retention_in_days=0, kms_key_id=KEY),
        one(KIND, retention_in_days=30),
    ],
    cannot_tell=[
        one(KIND, retention_in_days="${var.days}", kms_key_id=KEY),
        one(KIND, retention_in_days=None, kms_key_id=KEY),
    ],
    plant=plant,
)
