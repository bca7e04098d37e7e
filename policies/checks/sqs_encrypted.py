"""Queues are encrypted."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.stack import Resource
from policies.reading.value import truth


class QueueEncrypted(Check):
    title = "A queue is encrypted"
    risk = "Messages lie readable on SQS's disks."
    remedy = "Set sqs_managed_sse_enabled to true in infra/constructs/work_queue.py."
    source = (
        "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
        "sqs-server-side-encryption.html"
    )
    resources = ("aws_sqs_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        if resource.conf.get("kms_master_key_id"):
            return
        managed = resource.conf.get("sqs_managed_sse_enabled")
        if not truth(managed, "sqs_managed_sse_enabled"):
            yield f"sqs_managed_sse_enabled is {managed}, and there is no kms_master_key_id"
