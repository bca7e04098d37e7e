from policies.reading.cost_tags import REQUIRED
from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_job_definition"
TAGS = dict.fromkeys(REQUIRED, "search")


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["propagate_tags"] = False


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        one(KIND, propagate_tags=True, tags=TAGS),
        one(KIND, propagate_tags="true", tags={**TAGS, "Name": "worker"}),
    ],
    fails=[
        one(KIND),
        one(KIND, tags=TAGS),
        one(KIND, propagate_tags=False, tags=TAGS),
        one(KIND, propagate_tags=True),
        one(KIND, propagate_tags=True, tags={**TAGS, "gristmill:blueprint": ""}),
    ],
    cannot_tell=[
        one(KIND, propagate_tags="${var.told}", tags=TAGS),
        one(KIND, propagate_tags=True, tags="${local.tags}"),
    ],
    plant=plant,
)
