"""A container gets nothing of the machine but its GPU."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.container import container, entry, section
from policies.reading.stack import Resource, literal
from policies.reading.value import truth


class NotPrivileged(Check):
    title = "A container gets no privileges, capabilities or devices beyond its GPU"
    risk = "A container that may do what the machine may reads all that other jobs have there."
    remedy = "Leave privileged false and devices out in infra/constructs/inference_job.py."
    source = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        properties = container(resource)
        if truth(entry(properties, "privileged"), "privileged"):
            yield "privileged is true"
        linux = section(properties, "linuxParameters")
        if devices := literal(entry(linux, "devices"), "linuxParameters.devices"):
            yield f"linuxParameters.devices is {devices}; resourceRequirements hands out GPUs"
        capabilities = section(linux, "capabilities")
        if added := literal(entry(capabilities, "add"), "linuxParameters.capabilities.add"):
            yield f"linuxParameters.capabilities.add is {added}"
