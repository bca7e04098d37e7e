from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_subnet"


def with_nat(subnet: str) -> Trees:
    return several(
        team_foundation={
            KIND: {"it": {"map_public_ip_on_launch": True}, "other": {}},
            "aws_nat_gateway": {"nat": {"subnet_id": subnet}},
        }
    )


def plant(trees: Trees) -> None:
    for subnet in of_type(trees, KIND):
        subnet["map_public_ip_on_launch"] = True


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND),
        one(KIND, map_public_ip_on_launch=False),
        with_nat("${aws_subnet.it.id}"),
    ],
    fails=[
        one(KIND, map_public_ip_on_launch=True),
        one(KIND, map_public_ip_on_launch="true"),
        with_nat("${aws_subnet.other.id}"),
    ],
    cannot_tell=[
        one(KIND, map_public_ip_on_launch="${var.public}"),
        with_nat("${data.aws_subnet.it.id}"),
    ],
    plant=plant,
)
