from policies.reading.cost_tags import REQUIRED
from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_launch_template"
TAGS = dict.fromkeys(REQUIRED, "search")
VOLUME = {"resource_type": "volume", "tags": TAGS}


def template(*specifications: object) -> Trees:
    return one(KIND, tag_specifications=list(specifications))


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        for specification in made["tag_specifications"]:
            specification["resource_type"] = "instance"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[template(VOLUME), template({"resource_type": "instance"}, VOLUME)],
    fails=[
        one(KIND),
        template({**VOLUME, "resource_type": "instance"}),
        template({**VOLUME, "tags": {**TAGS, "gristmill:platform": ""}}),
    ],
    cannot_tell=[
        template({**VOLUME, "resource_type": "${var.type}"}),
        template({**VOLUME, "tags": "${local.tags}"}),
        template(VOLUME, VOLUME),
    ],
    plant=plant,
)
