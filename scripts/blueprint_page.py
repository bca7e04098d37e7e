"""The blueprint's JSON Schema -> the page that describes every key."""

from gristmill.contract.run import POLICY
from gristmill.contract.task import SUPPORTED
from schema_page import Node, schema_sections


def blueprint_page(schema: Node) -> str:
    policy = ", ".join(f"`{name}`" for name in POLICY)
    engines = "".join(f"- `{e}`: {', '.join(kinds)}\n" for e, kinds in SUPPORTED.items())
    return (
        "# Blueprint\n\nEvery key of a `blueprint.yaml`. Unknown keys are refused. Editors that\n"
        "know JSON Schema complete and check it with\n"
        "[blueprint.schema.json](blueprint.schema.json); the shipped blueprints name it in their\n"
        "first line.\n\n"
        f"These sections may change between attempts of one run: {policy}.\n"
        "Everything else decides the results: changed, it is another run.\n\n"
        "`schedule` and, in `capacity`, `gpus`, `max_workers`, `spot` and `on_demand` are\n"
        "what stacks are made from: see [deploy to your AWS account](../tutorials/deploy.md). A\n"
        "run on one machine checks them and does not heed them.\n\n"
        f"What each engine does:\n\n{engines}\n" + schema_sections(schema)
    )
