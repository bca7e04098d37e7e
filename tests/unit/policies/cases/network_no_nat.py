from tests.unit.policies.case import Cases, Trees, one

KIND = "aws_nat_gateway"


def plant(trees: Trees) -> None:
    for tree in trees.values():
        tree["resource"][KIND] = {"way-out": {"subnet_id": "subnet-0123"}}


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[one(KIND, connectivity_type="private")],
    fails=[one(KIND), one(KIND, connectivity_type="public")],
    cannot_tell=[one(KIND, connectivity_type="${var.kind}")],
    plant=plant,
    choices={"egress": "none"},
)
