from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_compute_environment"


def environment(type_: str, strategy: str | None) -> Trees:
    return one(KIND, compute_resources=[{"type": type_, "allocation_strategy": strategy}])


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["compute_resources"]["allocation_strategy"] = "BEST_FIT_PROGRESSIVE"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        environment("SPOT", "SPOT_PRICE_CAPACITY_OPTIMIZED"),
        environment("spot", "spot_capacity_optimized"),
        environment("EC2", "BEST_FIT_PROGRESSIVE"),
        environment("FARGATE_SPOT", None),
        one(KIND, type="UNMANAGED"),
    ],
    fails=[environment("SPOT", None), environment("SPOT", "BEST_FIT")],
    cannot_tell=[
        environment("SPOT", "${var.strategy}"),
        environment("${var.type}", "SPOT_CAPACITY_OPTIMIZED"),
        one(KIND, compute_resources="${local.resources}"),
    ],
    plant=plant,
)
