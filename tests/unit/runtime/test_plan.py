from gristmill.runtime.plan import PlanPages
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import PAGE_SHARDS, Mill, blueprint, json_lines


def test_any_shard_is_found_on_its_page() -> None:
    bodies = {f"{n}.jsonl": json_lines(["x"]) for n in range(11)}
    mill = Mill.planned(bodies, InstantClock(), blueprint(shard={"bytes": 14}))
    pages = PlanPages(mill.run, mill.plan)
    assert mill.plan.shards == 11 > 2 * PAGE_SHARDS
    for index in (0, 10, 3, 4, 10, 0):
        assert pages.shard(index).index == index
        assert pages.shard(index).objects[0].key == sorted(bodies)[index]
