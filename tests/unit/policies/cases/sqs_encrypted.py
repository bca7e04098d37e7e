from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_sqs_queue"


def plant(trees: Trees) -> None:
    for queue in of_type(trees, KIND):
        queue["sqs_managed_sse_enabled"] = False


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, sqs_managed_sse_enabled=True),
        one(KIND, sqs_managed_sse_enabled="true"),
        one(KIND, kms_master_key_id="${aws_kms_key.key.arn}"),
    ],
    fails=[one(KIND), one(KIND, sqs_managed_sse_enabled=False)],
    cannot_tell=[
        one(KIND, sqs_managed_sse_enabled="${var.encrypted}"),
        one(KIND, sqs_managed_sse_enabled=["yes"]),
    ],
    plant=plant,
)
