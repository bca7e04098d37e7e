"""Compute environments keep no machine when there is no work."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.stack import Resource, literal


class ScaleToZero(Check):
    title = "A compute environment keeps no machine when there is no work"
    risk = "Machines that wait for work cost as much as machines that do it."
    remedy = "Set min_vcpus to 0 in infra/constructs/gpu_queue.py."
    source = (
        "https://docs.aws.amazon.com/batch/latest/userguide/compute_environment_parameters.html"
    )
    resources = ("aws_batch_compute_environment",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for capacity in resource.blocks("compute_resources"):
            least = literal(capacity.get("min_vcpus", 0), "compute_resources.min_vcpus")
            if least != 0:
                yield f"compute_resources.min_vcpus is {least}, must be 0"
