"""Jobs carry the tags by which a bill is split."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.cost_tags import missing
from policies.reading.stack import Resource
from policies.reading.value import truth


class TagsPropagated(Check):
    title = "Jobs carry the tags by which a bill is split"
    risk = "Containers of several teams on one machine can't be told apart in the bill."
    remedy = "Set propagate_tags and the team's tags in infra/constructs/inference_job.py."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/using-tags.html"
    resources = ("aws_batch_job_definition",)

    def faults(self, resource: Resource) -> Iterator[str]:
        passed_on = resource.conf.get("propagate_tags")
        if not truth(passed_on, "propagate_tags"):
            yield f"propagate_tags is {'not set' if passed_on is None else passed_on}, must be true"
        for tag in missing(resource.conf.get("tags")):
            yield f"tags lacks {tag}, or leaves it empty"
