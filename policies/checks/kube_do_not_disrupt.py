"""A worker isn't moved to tidy up nodes."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import Resource
from policies.reading.workload import RESOURCES, workloads

ANNOTATION: Final = "karpenter.sh/do-not-disrupt"


class DoNotDisrupt(Check):
    title = "A job's pod isn't moved to tidy up nodes"
    risk = "Consolidation would end workers whose machine was going to stay, part after part."
    remedy = f'Annotate the pod template with {ANNOTATION}: "true".'
    source = "https://karpenter.sh/docs/concepts/disruption/"
    resources = RESOURCES

    def faults(self, resource: Resource) -> Iterator[str]:
        for workload in workloads(resource):
            said = workload.annotations.get(ANNOTATION)
            if workload.is_job and said != "true":
                yield f"annotation {ANNOTATION} is {said!r}, must be 'true'"
