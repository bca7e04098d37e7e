"""A job runs the image that was reviewed."""

import re
from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.container import container, entry
from policies.reading.stack import Resource, literal

DIGEST: Final = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")


class ImageDigest(Check):
    title = "A job names its image by digest"
    risk = "A tag can be moved: two attempts of one job may run two programs."
    remedy = "Set image to a name with @sha256: and its digest in platform.yaml."
    source = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        image = entry(container(resource), "image")
        # The name may be known only later; the digest must stand here.
        if not DIGEST.fullmatch(str(image)):
            yield f"image is {literal(image, 'image') or 'not set'}, without @sha256: and a digest"
