from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.job import KIND, change, definition


def plant(trees: Trees) -> None:
    change(trees, user="root")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        definition(user="10001"),
        definition(user="10001:10001", image="${var.image}"),
        definition(User=1000),
    ],
    fails=[
        definition(),
        definition(user="root"),
        definition(user="worker"),
        definition(user="0"),
        definition(user="00:1000"),
        definition(user="1000:0"),
        definition(user="1000:root"),
    ],
    cannot_tell=[
        one(KIND),
        one(KIND, container_properties="${local.container}"),
        one(KIND, container_properties="[]"),
        one(KIND, node_properties="{}"),
        definition(user="${var.user}"),
    ],
    plant=plant,
)
