import json

from tests.unit.policies.case import Cases, Trees, of_type, one, several

KIND = "aws_batch_job_definition"


def definition(log: object) -> Trees:
    properties = json.dumps({"logConfiguration": log})
    return several(
        team_compute={KIND: {"it": {"container_properties": properties}}},
        team_data={"aws_cloudwatch_log_group": {"logs": {"name": "/team"}}},
    )


def near(group: object) -> Trees:
    """The log group is in the definition's own stack."""
    trees = definition(awslogs(group))
    trees["team-compute"]["resource"].update(trees.pop("team-data")["resource"])
    return trees


def awslogs(group: object) -> dict[str, object]:
    return {"logDriver": "awslogs", "options": {"awslogs-group": group}}


def plant(trees: Trees) -> None:
    for made in of_type(trees, "aws_cloudwatch_log_group"):
        made["name"] = f"{made['name']}-of-another"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[definition(awslogs("/team")), near("${aws_cloudwatch_log_group.logs.name}")],
    fails=[
        definition(None),
        definition({"logDriver": "splunk"}),
        definition({"logDriver": "awslogs"}),
        definition(awslogs("/other")),
    ],
    cannot_tell=[
        one(KIND),
        definition("${local.log}"),
        definition(awslogs("${var.group}")),
        definition({"logDriver": "${var.driver}"}),
    ],
    plant=plant,
)
