"""A machine's disks carry the tags by which a bill is split."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.cost_tags import missing
from policies.reading.stack import CannotTellError, Resource, literal


class VolumeTags(Check):
    title = "A machine's disks carry the tags by which a bill is split"
    risk = "Disks are billed on their own, and nobody is told that they pay for them."
    remedy = (
        "Hand the team's tags to tag_specifications for volumes in infra/constructs/gpu_queue.py."
    )
    source = "https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html"
    resources = ("aws_launch_template",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for tag in missing(_volume_tags(resource)):
            yield f"tag_specifications for volumes lack {tag}, or leave it empty"


def _volume_tags(template: Resource) -> object:
    found = [
        specification.get("tags")
        for specification in template.blocks("tag_specifications")
        if literal(specification.get("resource_type"), "tag_specifications.resource_type")
        == "volume"
    ]
    if len(found) > 1:
        raise CannotTellError("tag_specifications names volumes more than once")
    return found[0] if found else None
