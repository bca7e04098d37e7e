from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_job_definition"
LAST = {"action": "EXIT", "on_reason": "*"}
AGAIN = {"action": "RETRY", "on_exit_code": "75"}


def plant(trees: Trees) -> None:
    for definition in of_type(trees, KIND):
        rules = definition["retry_strategy"]["evaluate_on_exit"]
        rules[:] = [rule for rule in rules if rule.get("on_exit_code") != "75"]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[one(KIND, retry_strategy={"evaluate_on_exit": [AGAIN, LAST]})],
    fails=[
        one(KIND),
        one(KIND, retry_strategy={"evaluate_on_exit": [LAST, AGAIN]}),
        one(KIND, retry_strategy={"evaluate_on_exit": [{**AGAIN, "action": "EXIT"}, LAST]}),
    ],
    cannot_tell=[one(KIND, retry_strategy={"evaluate_on_exit": "${local.rules}"})],
    plant=plant,
)
