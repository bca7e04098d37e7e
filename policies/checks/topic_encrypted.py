"""Messages of a topic lie encrypted under a key of ours."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource

OF_AWS: Final = "alias/aws/sns"


class TopicEncrypted(Check):
    title = "A topic is encrypted under a key of the platform"
    risk = "Alerts lie in plain text; under the key of AWS, CloudWatch can't even send them."
    remedy = "Set kms_master_key_id to the team's key in infra/stacks/observability.py."
    source = "https://docs.aws.amazon.com/sns/latest/dg/sns-server-side-encryption.html"
    resources = ("aws_sns_topic",)

    def faults(self, resource: Resource) -> Iterator[str]:
        key = resource.conf.get("kms_master_key_id")
        if not key:
            yield "kms_master_key_id is not set"
        elif key == OF_AWS:
            yield f"kms_master_key_id is {key}, must be a key that CloudWatch may use"
        elif "${" in str(key) and resource.app.target(key, resource.stack) is None:
            raise CannotTellError(f"kms_master_key_id is {key}, which is not in these stacks")
