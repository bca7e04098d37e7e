from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_job_definition"
AGAIN = {"action": "RETRY", "on_exit_code": "75"}
LAST = {"action": "EXIT", "on_reason": "*"}


def definition(*rules: dict[str, str]) -> Trees:
    return one(KIND, retry_strategy={"attempts": 3, "evaluate_on_exit": list(rules)})


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["retry_strategy"]["evaluate_on_exit"].pop()


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        definition(AGAIN, LAST),
        definition(LAST),
        definition(AGAIN, {"action": "exit", "on_status_reason": "*"}),
    ],
    fails=[
        one(KIND),
        one(KIND, retry_strategy={"attempts": 3}),
        definition(AGAIN),
        definition(LAST, AGAIN),
        definition(LAST, LAST),
        definition({"action": "RETRY", "on_exit_code": "*"}, LAST),
        definition(AGAIN, {**LAST, "action": "RETRY"}),
        definition(AGAIN, {**LAST, "on_exit_code": "1*"}),
        definition(AGAIN, {"action": "EXIT", "on_exit_code": "*"}),
        definition(AGAIN, {"action": "EXIT"}),
    ],
    cannot_tell=[
        definition(AGAIN, {**LAST, "action": "${var.last}"}),
        one(KIND, retry_strategy="${local.retries}"),
    ],
    plant=plant,
)
