"""The published plan, read a page at a time: a worker looks only at the shards it leases."""

from gristmill.contract import layout
from gristmill.contract.shard import Shard, ShardPlan, decode_page
from gristmill.store.protocol import ObjectStore


class PlanPages:
    """Shards by index. Keeps one page in memory."""

    def __init__(self, run: ObjectStore, plan: ShardPlan) -> None:
        self._run = run
        self._plan = plan
        self._page = -1
        self._shards: dict[int, Shard] = {}

    def shard(self, index: int) -> Shard:
        """Blocks when the shard is on another page than the last one asked for."""
        page = index // self._plan.page_shards
        if page != self._page:
            body = self._run.get(layout.plan_page(page))
            self._shards = {shard.index: shard for shard in decode_page(body)}
            self._page = page
        return self._shards[index]
