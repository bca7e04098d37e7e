"""The platform's schema and the deployment record -> the pages for those who deploy."""

from environment_page import variables
from gristmill.contract import deployment
from gristmill.contract.deployment import Definition, Deployment, Roles, parameter_name
from infra import main
from run_page import model_section
from schema_page import Node, schema_sections
from table import table


def platform_page(schema: Node) -> str:
    return (
        "# Platform\n\nEvery key of a `platform.yaml`: one AWS account and region, for all\n"
        "blueprints that are deployed there. Unknown keys are refused. Editors check it with\n"
        "[platform.schema.json](platform.schema.json). Start from the\n"
        "[shipped example](../tutorials/deploy.md).\n\n"
        "What synthesis reads from the environment:\n\n"
        + table(("Variable", ""), variables(main, "ENV_"))
        + "\n"
        + schema_sections(schema)
    )


def deployment_page() -> str:
    name = parameter_name("<blueprint>")
    return (
        "# Deployment record\n\nWhat a deployed blueprint is made of: the one output that clients\n"
        f"read. It is JSON in the Systems Manager parameter `{name}`, written by the\n"
        "stack `<blueprint>-access`, so whoever submits runs needs neither Terraform nor its\n"
        "state. The submitter's and the coordinator's roles may read it.\n\n"
        + "\n".join(model_section(model) for model in (Deployment, Definition, Roles))
        + "\n## Tags\n\n"
        + table(("Tag", ""), variables(deployment, "TAG_"))
    )
