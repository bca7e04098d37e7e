"""A container can't change its own files."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.container import container, entry
from policies.reading.stack import Resource
from policies.reading.value import truth


class ReadOnlyRoot(Check):
    title = "A container can't change its own files"
    risk = "Whoever gets into the code can replace it, and nobody sees it in the image."
    remedy = "Set readonlyRootFilesystem to true in infra/constructs/inference_job.py."
    source = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        only = entry(container(resource), "readonlyRootFilesystem")
        if not truth(only, "readonlyRootFilesystem"):
            yield f"readonlyRootFilesystem is {'not set' if only is None else only}, must be true"
