"""Keys change every year, and are not lost by mistake."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import Resource
from policies.reading.value import number, truth

LEAST_DAYS: Final = 7
DEFAULT_DAYS: Final = 30


class KeyRotation(Check):
    title = "A customer key is rotated, and its deletion can be taken back for a week"
    risk = "A key that leaks opens all that was ever written; one that is deleted closes it all."
    remedy = (
        "Set enable_key_rotation to true and deletion_window_in_days to 7 or more in "
        "infra/constructs/key.py."
    )
    source = "https://docs.aws.amazon.com/kms/latest/developerguide/rotate-keys.html"
    resources = ("aws_kms_key",)

    def faults(self, resource: Resource) -> Iterator[str]:
        rotated = resource.conf.get("enable_key_rotation")
        if not truth(rotated, "enable_key_rotation"):
            yield f"enable_key_rotation is {rotated}, must be true"
        days = resource.conf.get("deletion_window_in_days", DEFAULT_DAYS)
        if number(days, "deletion_window_in_days") < LEAST_DAYS:
            yield f"deletion_window_in_days is {days}, must be {LEAST_DAYS} or more"
