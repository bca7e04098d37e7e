from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_vpc"
LOG = "aws_flow_log"


def network(kind: str | None, of: str = "${aws_vpc.it.id}") -> Trees:
    return several(
        team_foundation={KIND: {"it": {}}, LOG: {"flows": {"vpc_id": of, "traffic_type": kind}}}
    )


def plant(trees: Trees) -> None:
    for log in of_type(trees, LOG):
        log["traffic_type"] = "ACCEPT"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[network("REJECT"), network("ALL")],
    fails=[one(KIND), network("ACCEPT"), network(None)],
    cannot_tell=[network("${var.kind}"), network("ALL", "${data.aws_vpc.it.id}")],
    plant=plant,
)
