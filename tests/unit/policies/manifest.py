"""A worker as a Kubernetes Job, as it should be; and ways to spoil it."""

import copy
from collections.abc import Callable
from typing import Any

from tests.unit.policies.case import Trees, one

KIND = "kubernetes_manifest"
WORKER: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "worker"},
    "spec": {
        "completionMode": "Indexed",
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [75]}},
                {
                    "action": "FailJob",
                    "onExitCodes": {"operator": "In", "values": [64, 76, 77, 78]},
                },
            ]
        },
        "template": {
            "metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
            "spec": {
                "restartPolicy": "Never",
                "securityContext": {
                    "runAsNonRoot": True,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "volumes": [{"name": "scratch", "emptyDir": {}}],
                "containers": [
                    {
                        "name": "worker",
                        "resources": {
                            "limits": {"nvidia.com/gpu": 1, "memory": "14Gi"},
                            "requests": {"cpu": "3"},
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]},
                        },
                    }
                ],
            },
        },
    },
}

Spoil = Callable[[dict[str, Any]], object]


def worker(spoil: Spoil | None = None) -> Trees:
    """The Job with something changed."""
    manifest = copy.deepcopy(WORKER)
    if spoil:
        spoil(manifest)
    return one(KIND, manifest=manifest)


def pod(manifest: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return found


def container(manifest: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pod(manifest)["containers"][0]
    return found


def add(trees: Trees, spoil: Spoil) -> None:
    """No shipped stack holds a manifest: one with the fault is put beside."""
    trees["embed-corpus-kubernetes"] = worker(spoil)["team-compute"]


NOT_ABOUT = one(KIND, manifest={"kind": "ConfigMap", "data": {}})
UNKNOWN = [
    one(KIND, manifest="${file.worker}"),
    one(KIND, manifest={"kind": "JobSet", "spec": {}}),
    one(KIND, manifest={"kind": "RayJob", "spec": {}}),
    one(KIND, manifest={"kind": "Job", "spec": {}}),
]
