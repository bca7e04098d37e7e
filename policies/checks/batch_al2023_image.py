"""Machines run Amazon Linux 2023."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.machines import machines
from policies.reading.stack import Resource, blocks, literal

IMAGES: Final = ("ECS_AL2023", "ECS_AL2023_NVIDIA")


class Al2023Image(Check):
    title = "Machines run Amazon Linux 2023"
    risk = "Amazon Linux 2 gets no more security updates, nor drivers for new GPUs."
    remedy = "Set image_type to ECS_AL2023_NVIDIA in infra/constructs/gpu_queue.py."
    source = "https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html"
    resources = ("aws_batch_compute_environment",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for capacity in machines(resource):
            choices = blocks(capacity, "ec2_configuration")
            if not choices:
                yield "compute_resources.ec2_configuration is not set, so AWS chooses the image"
            for choice in choices:
                image = literal(choice.get("image_type"), "ec2_configuration.image_type")
                if image not in IMAGES:
                    yield (
                        f"ec2_configuration.image_type is {image or 'not set'}, "
                        f"must be {' or '.join(IMAGES)}"
                    )
