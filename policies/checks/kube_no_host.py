"""A pod has nothing of its host."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import Resource, blocks
from policies.reading.workload import RESOURCES, workloads

HOST: Final = ("hostNetwork", "hostPID", "hostIPC")


class NothingOfTheHost(Check):
    title = "A pod has no path, network or processes of its host"
    risk = "Who takes over the worker reads the node's credentials and other pods' data."
    remedy = "Use emptyDir or a generic ephemeral volume as scratch; remove the host settings."
    source = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
    resources = RESOURCES

    def faults(self, resource: Resource) -> Iterator[str]:
        for workload in workloads(resource):
            for volume in blocks(workload.pod, "volumes"):
                if "hostPath" in volume:
                    yield f"volume {volume.get('name')} is a hostPath"
            for setting in HOST:
                if workload.pod.get(setting):
                    yield f"{setting} is {workload.pod[setting]}"
