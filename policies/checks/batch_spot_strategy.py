"""Spot machines come from the pools that are least likely to be taken back."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.machines import kind, word
from policies.reading.stack import Resource

STRATEGIES: Final = ("SPOT_PRICE_CAPACITY_OPTIMIZED", "SPOT_CAPACITY_OPTIMIZED")


class SpotStrategy(Check):
    title = "Spot machines come from pools with spare capacity"
    risk = "Machines from the cheapest pool are taken back most often, and work is done twice."
    remedy = "Set it to SPOT_PRICE_CAPACITY_OPTIMIZED for SPOT in infra/constructs/gpu_queue.py."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/allocation-strategies.html"
    resources = ("aws_batch_compute_environment",)
    chosen_by = "capacity.spot"

    def faults(self, resource: Resource) -> Iterator[str]:
        for capacity in resource.blocks("compute_resources"):
            strategy = word(capacity, "allocation_strategy")
            if kind(capacity) == "SPOT" and strategy not in STRATEGIES:
                yield (
                    f"compute_resources.allocation_strategy is {strategy or 'not set'}, "
                    f"must be {' or '.join(STRATEGIES)}"
                )
