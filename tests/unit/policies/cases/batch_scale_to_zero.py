from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_compute_environment"


def plant(trees: Trees) -> None:
    for environment in of_type(trees, KIND):
        environment["compute_resources"]["min_vcpus"] = 4


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, compute_resources={"type": "SPOT", "min_vcpus": 0}),
        one(KIND, compute_resources=[{"type": "FARGATE", "max_vcpus": 4}]),
    ],
    fails=[one(KIND, compute_resources={"min_vcpus": 8})],
    cannot_tell=[one(KIND, compute_resources={"min_vcpus": "${var.least}"})],
    plant=plant,
)
