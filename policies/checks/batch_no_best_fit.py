"""A compute environment takes another type of machine where the best one is not to be had."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.machines import machines, word
from policies.reading.stack import Resource

DEFAULT: Final = "BEST_FIT"
"""Of AWS Batch, where nothing is said."""


class NoBestFit(Check):
    title = "A compute environment takes another machine where the best one is sold out"
    risk = "Jobs wait for one type of machine while others are free, and updates are refused."
    remedy = (
        "Set allocation_strategy to BEST_FIT_PROGRESSIVE, for spot to "
        "SPOT_PRICE_CAPACITY_OPTIMIZED, in infra/constructs/gpu_queue.py."
    )
    source = "https://docs.aws.amazon.com/batch/latest/userguide/allocation-strategies.html"
    resources = ("aws_batch_compute_environment",)

    def faults(self, resource: Resource) -> Iterator[str]:
        for capacity in machines(resource):
            strategy = word(capacity, "allocation_strategy")
            if not strategy:
                yield f"compute_resources.allocation_strategy is not set, which means {DEFAULT}"
            elif strategy == DEFAULT:
                yield f"compute_resources.allocation_strategy is {strategy}"
