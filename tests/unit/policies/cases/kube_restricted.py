from typing import Any

from tests.unit.policies.case import Cases, Trees
from tests.unit.policies.manifest import (
    KIND,
    NOT_ABOUT,
    UNKNOWN,
    Spoil,
    add,
    container,
    pod,
    worker,
)


def _setting(name: str, value: object) -> Spoil:
    def spoil(manifest: dict[str, Any]) -> None:
        container(manifest)["securityContext"][name] = value

    return spoil


def _rootless_missing(manifest: dict[str, Any]) -> None:
    pod(manifest).pop("securityContext")


def _unreadable(manifest: dict[str, Any]) -> None:
    container(manifest)["securityContext"] = "${local.context}"


def plant(trees: Trees) -> None:
    add(trees, _setting("privileged", value=True))


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[worker(), NOT_ABOUT],
    fails=[
        worker(_rootless_missing),
        worker(_setting("runAsNonRoot", value=False)),
        worker(_setting("allowPrivilegeEscalation", value=True)),
        worker(_setting("readOnlyRootFilesystem", value=None)),
        worker(_setting("privileged", value=True)),
        worker(_setting("runAsUser", value=0)),
        worker(_setting("capabilities", value={"drop": ["NET_RAW"]})),
        worker(_setting("capabilities", value={"drop": ["ALL"], "add": ["SYS_ADMIN"]})),
        worker(_setting("seccompProfile", value={"type": "Unconfined"})),
    ],
    cannot_tell=[*UNKNOWN, worker(_unreadable)],
    plant=plant,
)
