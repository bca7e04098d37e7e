"""Everything that a stack makes carries the tags by which a bill is split."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.cost_tags import REQUIRED, missing
from policies.reading.provider import BLUEPRINT, PLATFORM, default_tags
from policies.reading.stack import Resource, Stack

OWNED: Final = (
    "aws_batch_job_definition",
    "aws_batch_job_queue",
    "aws_cloudwatch_metric_alarm",
    "aws_s3_bucket",
    "aws_scheduler_schedule",
    "aws_sqs_queue",
    "aws_ssm_parameter",
)
"""Only stacks of a blueprint hold these."""


class ProviderCostTags(Check):
    title = "All that a stack makes carries the tags by which a bill is split"
    risk = "Costs that carry no tag are nobody's, and no budget counts them."
    remedy = (
        "Hand the tags of the team, or of the platform, to PlatformStack (infra/stacks/base.py)."
    )
    source = "https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html"
    resources = (
        "aws_batch_job_queue",
        "aws_iam_role",
        "aws_kms_key",
        "aws_s3_bucket",
        "aws_sqs_queue",
        "aws_vpc",
    )

    def faults(self, resource: Resource) -> Iterator[str]:
        for tag in missing(default_tags(resource.stack), _required(resource.stack)):
            yield f"{resource.stack.name}: default_tags of its provider lacks {tag}, or it is empty"


def _required(stack: Stack) -> tuple[str, ...]:
    """What all blueprints share is tagged with the platform alone."""
    owned = any(resource.type in OWNED for resource in stack.resources())
    return REQUIRED if owned or BLUEPRINT in default_tags(stack) else (PLATFORM,)
