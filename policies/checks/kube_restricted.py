"""A container runs under the restricted pod security standard, over a root that is read-only."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource
from policies.reading.workload import RESOURCES, workloads

SECCOMP: Final = ("RuntimeDefault", "Localhost")


class Restricted(Check):
    title = "A container is restricted: no root, no privileges, a read-only root disk"
    risk = "A hostile model or input that takes over the worker could take over the node."
    remedy = (
        "Set securityContext: runAsNonRoot, seccompProfile RuntimeDefault, "
        "allowPrivilegeEscalation false, capabilities drop [ALL], readOnlyRootFilesystem."
    )
    source = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
    resources = RESOURCES

    def faults(self, resource: Resource) -> Iterator[str]:
        for workload in workloads(resource):
            shared = _context(workload.pod, "the pod")
            for container in workload.containers:
                name = f"container {container.get('name')}"
                yield from _faults(name, {**shared, **_context(container, name)})


def _context(node: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    context = node.get("securityContext") or {}
    if not isinstance(context, Mapping):
        raise CannotTellError(f"securityContext of {what} is {context!r}")
    return context


def _faults(name: str, context: Mapping[str, Any]) -> Iterator[str]:
    for setting, wanted in (
        ("runAsNonRoot", True),
        ("allowPrivilegeEscalation", False),
        ("readOnlyRootFilesystem", True),
    ):
        if context.get(setting) is not wanted:
            yield f"{name}: {setting} is {context.get(setting)}, must be {wanted}"
    if context.get("privileged"):
        yield f"{name}: is privileged"
    if context.get("runAsUser") == 0:
        yield f"{name}: runAsUser is 0"
    capabilities = context.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or []):
        yield f"{name}: capabilities.drop is {capabilities.get('drop')}, must be [ALL]"
    if added := set(capabilities.get("add") or []) - {"NET_BIND_SERVICE"}:
        yield f"{name}: adds {', '.join(sorted(added))}"
    profile = (context.get("seccompProfile") or {}).get("type")
    if profile not in SECCOMP:
        yield f"{name}: seccompProfile is {profile}, must be one of {', '.join(SECCOMP)}"
