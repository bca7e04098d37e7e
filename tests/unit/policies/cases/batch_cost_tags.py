from policies.reading.cost_tags import REQUIRED
from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_compute_environment"
TAGS = dict.fromkeys(REQUIRED, "search")


def environment(tags: object, type_: str = "SPOT") -> Trees:
    return one(KIND, compute_resources={"type": type_, "tags": tags})


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["compute_resources"].get("tags", {}).pop("gristmill:team", None)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[environment(TAGS), environment(None, "FARGATE")],
    fails=[
        environment(None),
        environment({**TAGS, "gristmill:team": " "}),
        environment({**TAGS, "gristmill:blueprint": None}),
        one(KIND, tags=TAGS, compute_resources={"type": "EC2"}),
    ],
    cannot_tell=[
        environment("${local.tags}"),
        environment({**TAGS, "gristmill:team": "${var.team}"}),
        environment(["search"]),
    ],
    plant=plant,
)
