"""Kubernetes workloads as the checks read them, from `kubernetes_manifest` resources."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from policies.reading.stack import CannotTellError, Resource, blocks

RESOURCES: Final = ("kubernetes_manifest",)
"""A manifest in YAML becomes such a resource too: see policies/manifests.py."""
_PATHS: Final = {
    "Pod": (),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
}
"""Kind -> where its pod is described."""
PODLESS: Final = frozenset(
    {
        *("ConfigMap", "Ingress", "LimitRange", "Namespace", "NetworkPolicy", "NodePool"),
        *("EC2NodeClass", "PersistentVolumeClaim", "PodDisruptionBudget", "PriorityClass"),
        *("ResourceQuota", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount"),
    }
)
"""Kinds that start no pod. Any other might: it can't be told."""
GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu")


@dataclass(frozen=True, slots=True)
class Workload:
    """Something that starts pods."""

    kind: str
    spec: Mapping[str, Any]
    """Of the job, where it is one; else of the object."""
    annotations: Mapping[str, Any]
    """Of its pods."""
    pod: Mapping[str, Any]
    """Spec of its pods."""

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        """The init containers too."""
        found = [*blocks(self.pod, "initContainers"), *blocks(self.pod, "containers")]
        if not found:
            raise CannotTellError("the pod has no containers")
        return found

    @property
    def is_job(self) -> bool:
        return self.kind in ("Job", "CronJob")


def workloads(resource: Resource) -> Iterator[Workload]:
    """The workload that a manifest describes; none where it starts no pod.

    Raises CannotTellError for a kind that is not known here.
    """
    manifest = resource.conf.get("manifest")
    if not isinstance(manifest, Mapping):
        raise CannotTellError(f"manifest is {manifest!r}")
    kind = str(manifest.get("kind"))
    if kind in PODLESS:
        return
    if kind not in _PATHS:
        raise CannotTellError(f"a {kind} may start pods, and these checks don't know how")
    path = _PATHS[kind]
    pod = _at(manifest, path)
    spec = _at(manifest, path[:-1]) if path else _at(manifest, ("spec",))
    annotations = pod.get("metadata", {}).get("annotations") or {}
    yield Workload(kind, spec, annotations, _at(pod, ("spec",)))


def _at(node: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    for key in path:
        inner = node.get(key)
        if not isinstance(inner, Mapping):
            raise CannotTellError(f"{'.'.join(path)} is not there")
        node = inner
    return node
