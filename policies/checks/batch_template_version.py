"""A compute environment names the version of its launch template."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.machines import machines
from policies.reading.stack import CannotTellError, Resource, blocks

MOVING: Final = ("$latest", "$default")


class TemplateVersion(Check):
    title = "A compute environment names the version of its launch template"
    risk = "A change of the template reaches machines some time later, and no plan shows it."
    remedy = "Set version to the template's latest_version in infra/constructs/gpu_queue.py."
    source = (
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_LaunchTemplateSpecification.html"
    )
    resources = ("aws_batch_compute_environment",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for capacity in machines(resource):
            templates = blocks(capacity, "launch_template")
            if not templates:
                yield "compute_resources.launch_template is not set, so AWS chooses everything"
            for template in templates:
                yield from _version_faults(template.get("version"), resource)


def _version_faults(version: object, environment: Resource) -> Iterator[str]:
    text = str(version or "").strip()
    if text.isdigit() or _is_number_at_apply(text, environment):
        return
    if "${" in text:
        raise CannotTellError(f"launch_template.version is {text!r}, not a template's version")
    moves = " and moves" if text.lower() in MOVING else ""
    yield f"launch_template.version is {text or 'not set'}{moves}, must be a number"


def _is_number_at_apply(text: str, environment: Resource) -> bool:
    target = environment.app.target(text, environment.stack)
    return (
        target is not None
        and target.type == "aws_launch_template"
        and text.endswith(".latest_version}")
    )
