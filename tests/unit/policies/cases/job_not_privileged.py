from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.job import KIND, change, definition


def plant(trees: Trees) -> None:
    change(trees, privileged=True)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        definition(),
        definition(privileged=False, linuxParameters={"devices": [], "initProcessEnabled": True}),
        definition(linuxParameters={"capabilities": {"drop": ["ALL"]}}),
    ],
    fails=[
        definition(privileged=True),
        definition(Privileged="true"),
        definition(linuxParameters={"devices": [{"hostPath": "/dev/nvidia0"}]}),
        definition(linuxParameters={"capabilities": {"add": ["SYS_ADMIN"]}}),
    ],
    cannot_tell=[
        one(KIND),
        definition(privileged="${var.privileged}"),
        definition(linuxParameters="${local.linux}"),
        definition(linuxParameters={"devices": "${local.devices}"}),
    ],
    plant=plant,
)
