from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.manifest import KIND, NOT_ABOUT, UNKNOWN, add, container, pod, worker


def _without_gpu(manifest: dict[str, Any]) -> None:
    container(manifest)["resources"]["limits"].pop("nvidia.com/gpu")


def _asking(manifest: dict[str, Any]) -> None:
    container(manifest)["resources"]["requests"]["nvidia.com/gpu"] = 2


def _without_memory(manifest: dict[str, Any]) -> None:
    container(manifest)["resources"]["limits"].pop("memory")


def _on_processors(manifest: dict[str, Any]) -> None:
    _without_gpu(manifest)
    pod(manifest).pop("tolerations")


def _unreadable(manifest: dict[str, Any]) -> None:
    container(manifest)["resources"] = "${local.resources}"


def plant(trees: Trees) -> None:
    add(trees, _without_gpu)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[worker(), worker(_on_processors), NOT_ABOUT],
    fails=[worker(_without_gpu), worker(_asking), worker(_without_memory)],
    cannot_tell=[*UNKNOWN, worker(_unreadable)],
    plant=plant,
)
