from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.job import KIND, change, definition

DIGEST = f"@sha256:{'0f' * 32}"


def plant(trees: Trees) -> None:
    change(trees, image="team/worker:latest")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        definition(image=f"111122223333.dkr.ecr.us-east-1.amazonaws.com/team/worker{DIGEST}"),
        definition(image=f"${{aws_ecr_repository.images.repository_url}}{DIGEST}"),
    ],
    fails=[
        definition(),
        definition(image="team/worker:latest"),
        definition(image=f"team/worker{DIGEST[:-1]}"),
        definition(image=f"team/worker@sha256:{'x' * 64}"),
    ],
    cannot_tell=[
        one(KIND),
        definition(image="${var.image}"),
        definition(image="team/worker@${var.digest}"),
    ],
    plant=plant,
)
