from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_compute_environment"


def environment(type_: str, strategy: str | None) -> Trees:
    return one(KIND, compute_resources={"type": type_, "allocation_strategy": strategy})


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["compute_resources"].pop("allocation_strategy", None)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[environment("EC2", "BEST_FIT_PROGRESSIVE"), environment("FARGATE", None)],
    fails=[
        environment("EC2", None),
        environment("SPOT", "BEST_FIT"),
        environment("EC2", "best_fit"),
    ],
    cannot_tell=[
        environment("EC2", "${var.strategy}"),
        environment("SOMETHING", None),
        one(KIND, compute_resources={}),
    ],
    plant=plant,
)
