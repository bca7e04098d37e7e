"""A container doesn't run as root."""

import re
from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.container import container, entry
from policies.reading.stack import Resource, literal

NUMBERS: Final = re.compile(r"0*[1-9][0-9]*(:0*[1-9][0-9]*)?")
"""By number, as what a name means is up to the image."""


class NonRoot(Check):
    title = "A container doesn't run as root"
    risk = (
        "Whoever breaks out of the code is root in the container, one fault away from the machine."
    )
    remedy = "Set user to the numbers of a user and group in infra/constructs/inference_job.py."
    source = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        user = literal(entry(container(resource), "user"), "user")
        if not NUMBERS.fullmatch(str(user)):
            yield f"user is {user or 'not set'}, must be numbers other than 0, such as 10001:10001"
