from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.manifest import KIND, NOT_ABOUT, UNKNOWN, add, pod, worker


def _path(manifest: dict[str, Any]) -> None:
    pod(manifest)["volumes"].append({"name": "disk", "hostPath": {"path": "/scratch"}})


def _network(manifest: dict[str, Any]) -> None:
    pod(manifest)["hostNetwork"] = True


def plant(trees: Trees) -> None:
    add(trees, _path)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[worker(), NOT_ABOUT],
    fails=[worker(_path), worker(_network)],
    cannot_tell=UNKNOWN,
    plant=plant,
)
