from typing import Any

from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.role_case import TAGS, stack

KIND = "aws_iam_role"
SHARED = {"gristmill:platform": "grist"}
QUEUE = {"aws_sqs_queue": {"work": {}}}


def tagged(tags: Any, **more: Any) -> Trees:
    return {"team-compute": stack({KIND: {"it": {}}, **more}, tags)}


def tokened() -> Trees:
    trees = tagged(TAGS)
    trees["team-compute"]["provider"]["aws"][0]["default_tags"] = [{"tags": "${var.tags}"}]
    return trees


def aliased() -> Trees:
    trees = tagged(TAGS)
    trees["team-compute"]["provider"]["aws"].append({"alias": "other"})
    return trees


def plant(trees: Trees) -> None:
    for tree in trees.values():
        for provider in tree["provider"]["aws"]:
            for tags in provider["default_tags"]:
                tags["tags"].pop("gristmill:blueprint", None)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[tagged(TAGS, **QUEUE), tagged(SHARED)],
    fails=[
        tagged(SHARED, **QUEUE),
        tagged({**TAGS, "gristmill:team": ""}),
        tagged({}),
        one(KIND),
        aliased(),
    ],
    cannot_tell=[tokened(), tagged({**TAGS, "gristmill:team": "${var.team}"})],
    plant=plant,
)
