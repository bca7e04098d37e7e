"""A container says what it takes, its GPU included."""

from collections.abc import Iterator, Mapping
from typing import Any

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource, blocks
from policies.reading.workload import GPUS, RESOURCES, Workload, workloads


class Limits(Check):
    title = "A container says what it takes, its GPU included"
    risk = (
        "Without a GPU limit a worker gets none, or shares one; without memory it takes a node's."
    )
    remedy = "Set resources.limits: memory for each container, and nvidia.com/gpu or amd.com/gpu."
    source = "https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/"
    resources = RESOURCES

    def faults(self, resource: Resource) -> Iterator[str]:
        for workload in workloads(resource):
            limited = False
            for container in workload.containers:
                limits, requests = _side(container, "limits"), _side(container, "requests")
                limited |= any(gpu in limits for gpu in GPUS)
                if "memory" not in limits:
                    yield f"container {container.get('name')} has no limit of memory"
                for gpu in GPUS:
                    if gpu in requests and requests[gpu] != limits.get(gpu):
                        yield (
                            f"container {container.get('name')} asks for {requests[gpu]} {gpu} "
                            f"with a limit of {limits.get(gpu)}"
                        )
            if _wants_gpu(workload) and not limited:
                yield "the pod tolerates GPU nodes, and no container has a limit of GPUs"


def _side(container: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    resources = container.get("resources") or {}
    found = resources.get(side) or {} if isinstance(resources, Mapping) else None
    if not isinstance(found, Mapping):
        raise CannotTellError(f"resources of {container.get('name')} are {resources!r}")
    return found


def _wants_gpu(workload: Workload) -> bool:
    return any(toleration.get("key") in GPUS for toleration in blocks(workload.pod, "tolerations"))
