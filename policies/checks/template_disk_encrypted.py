"""A machine's disks are encrypted and go with it."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.stack import Resource, blocks
from policies.reading.value import truth

WANTED: Final = ("encrypted", "delete_on_termination")


class DiskEncrypted(Check):
    title = "A machine's disks are encrypted and go with it"
    risk = "Records lie readable on a disk that outlives its machine, and is paid for."
    remedy = (
        "Set encrypted and delete_on_termination of each disk in infra/constructs/gpu_queue.py."
    )
    source = "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html"
    resources = ("aws_launch_template",)

    def faults(self, resource: Resource) -> Iterator[str]:
        mappings = resource.blocks("block_device_mappings")
        disks = [(m.get("device_name"), disk) for m in mappings for disk in blocks(m, "ebs")]
        if not disks:
            yield "block_device_mappings has no ebs, so the root disk is as its image has it"
        for device, disk in disks:
            for name in WANTED:
                if not truth(disk.get(name), f"{device}: ebs.{name}"):
                    yield f"{device}: ebs.{name} is {disk.get(name, 'not set')}, must be true"
