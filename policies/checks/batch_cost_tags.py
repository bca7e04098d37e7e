"""Machines carry the tags by which a bill is split."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.cost_tags import missing
from policies.reading.machines import machines
from policies.reading.stack import Resource


class MachineCostTags(Check):
    title = "Machines carry the tags by which a bill is split"
    risk = "Machines are the largest part of the bill, and the tags of a stack don't reach them."
    remedy = "Hand the team's tags to compute_resources in infra/constructs/gpu_queue.py."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/using-tags.html"
    resources = ("aws_batch_compute_environment",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for capacity in machines(resource):
            for tag in missing(capacity.get("tags")):
                yield f"compute_resources.tags lacks {tag}, or leaves it empty"
