from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_job_definition"


def definition(seconds: object) -> Trees:
    return one(KIND, timeout=[{"attempt_duration_seconds": seconds}])


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        del made["timeout"]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[definition(60), definition("21600")],
    fails=[one(KIND), definition(59), definition(None)],
    cannot_tell=[definition("${var.seconds}"), definition(True), one(KIND, timeout="long")],
    plant=plant,
)
