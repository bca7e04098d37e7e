from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_compute_environment"


def environment(*images: str | None) -> Trees:
    choices = [{"image_type": image} for image in images]
    return one(KIND, compute_resources={"type": "EC2", "ec2_configuration": choices})


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        for choice in made["compute_resources"].get("ec2_configuration", []):
            choice["image_type"] = "ECS_AL2_NVIDIA"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        environment("ECS_AL2023", "ECS_AL2023_NVIDIA"),
        one(KIND, compute_resources={"type": "FARGATE"}),
    ],
    fails=[environment(), environment("ECS_AL2023", "ECS_AL2_NVIDIA"), environment(None)],
    cannot_tell=[environment("${var.image}")],
    plant=plant,
)
