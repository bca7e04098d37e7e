"""Job definitions for the cases of the checks that look into a container."""

import json

from tests.unit.policies.case import Trees, of_type, one

KIND = "aws_batch_job_definition"


def definition(**properties: object) -> Trees:
    return one(KIND, container_properties=json.dumps(properties))


def change(trees: Trees, **properties: object) -> None:
    """Sets properties of every container."""
    for made in of_type(trees, KIND):
        container = json.loads(made["container_properties"])
        made["container_properties"] = json.dumps({**container, **properties})
