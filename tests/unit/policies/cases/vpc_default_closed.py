from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_vpc"
GROUP = "aws_default_security_group"


def network(of: str = "${aws_vpc.it.id}", **rules: Any) -> Trees:
    return several(team_foundation={KIND: {"it": {}}, GROUP: {"closed": {"vpc_id": of, **rules}}})


def plant(trees: Trees) -> None:
    for group in of_type(trees, GROUP):
        group["egress"] = [{"cidr_blocks": ["0.0.0.0/0"], "protocol": "-1"}]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[network(), network(ingress=[], egress=None)],
    fails=[
        one(KIND),
        network(ingress={"self": True, "protocol": "-1"}),
        network(egress=[{"cidr_blocks": ["10.0.0.0/8"]}]),
    ],
    cannot_tell=[network("${data.aws_vpc.it.id}"), network(ingress="${local.rules}")],
    plant=plant,
)
