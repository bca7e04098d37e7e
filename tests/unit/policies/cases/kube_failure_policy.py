from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.manifest import KIND, NOT_ABOUT, UNKNOWN, add, pod, worker


def _none(manifest: dict[str, Any]) -> None:
    manifest["spec"].pop("podFailurePolicy")


def _without(number: int) -> Any:
    return lambda manifest: manifest["spec"]["podFailurePolicy"]["rules"].pop(number)


def _failing_first(manifest: dict[str, Any]) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}}
    manifest["spec"]["podFailurePolicy"]["rules"].insert(0, rule)


def _restarting(manifest: dict[str, Any]) -> None:
    pod(manifest)["restartPolicy"] = "OnFailure"


def _unreadable(manifest: dict[str, Any]) -> None:
    manifest["spec"]["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"] = "${local.codes}"


def plant(trees: Trees) -> None:
    add(trees, _without(1))


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[worker(), NOT_ABOUT],
    fails=[
        worker(_none),
        *(worker(_without(number)) for number in range(3)),
        worker(_failing_first),
        worker(_restarting),
    ],
    cannot_tell=[*UNKNOWN, worker(_unreadable)],
    plant=plant,
)
