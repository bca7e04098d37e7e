from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.manifest import KIND, NOT_ABOUT, UNKNOWN, add, worker


def _bare(manifest: dict[str, Any]) -> None:
    manifest["spec"]["template"].pop("metadata")


def _moved(manifest: dict[str, Any]) -> None:
    annotations = manifest["spec"]["template"]["metadata"]["annotations"]
    annotations["karpenter.sh/do-not-disrupt"] = "false"


def plant(trees: Trees) -> None:
    add(trees, _bare)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[worker(), NOT_ABOUT],
    fails=[worker(_bare), worker(_moved)],
    cannot_tell=UNKNOWN,
    plant=plant,
)
