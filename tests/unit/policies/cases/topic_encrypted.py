from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_sns_topic"


def plant(trees: Trees) -> None:
    for topic in of_type(trees, KIND):
        topic.pop("kms_master_key_id")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, kms_master_key_id="arn:aws:kms:us-east-1:111122223333:key/1"),
        several(
            team_data={
                KIND: {"it": {"kms_master_key_id": "${aws_kms_key.key.arn}"}},
                "aws_kms_key": {"key": {}},
            }
        ),
    ],
    fails=[one(KIND), one(KIND, kms_master_key_id="alias/aws/sns")],
    cannot_tell=[one(KIND, kms_master_key_id="${var.key}")],
    plant=plant,
)
