"""Logs end some day, and lie under the customer key."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.stack import Resource
from policies.reading.value import number


class LogGroupKept(Check):
    title = "A log group keeps lines for a time that is set, under a customer key"
    risk = "Log lines are paid for and readable for ever."
    remedy = (
        "Set retention_in_days and kms_key_id where the group is made: infra/stacks/compute.py, "
        "infra/stacks/foundation.py."
    )
    source = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html"
    resources = ("aws_cloudwatch_log_group",)

    def faults(self, resource: Resource) -> Iterator[str]:
        days = resource.conf.get("retention_in_days", 0)
        if number(days, "retention_in_days") <= 0:
            yield f"retention_in_days is {days}, so that nothing ever expires"
        if not resource.conf.get("kms_key_id"):
            yield "there is no kms_key_id"
