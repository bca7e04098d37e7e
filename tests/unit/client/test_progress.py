from typing import Any

import pytest

from gristmill.client.progress import Progress
from gristmill.contract.manifest import Counts


def progress(**changed: Any) -> Progress:
    given: dict[str, Any] = {
        "shards": 4,
        "began": 100.0,
        "usd_per_hour": 3.6,
        "workers": 1,
        "before": Counts(),
    }
    return Progress(**given | changed)


def part(shard: int, records: int, share: float) -> dict[str, Any]:
    counts = Counts(records=records, ok=records).model_dump(mode="json")
    return {"event": "part_published", "shard": shard, "counts": counts, "shard_share": share}


LOADED = {"event": "loaded"}


def test_nothing_is_known_before_the_first_part() -> None:
    fresh = progress()
    assert fresh.share == 0
    assert fresh.rate(150) == 0
    assert fresh.seconds_left(150) is None


def test_loading_is_not_in_the_speed() -> None:
    going = progress()
    going.take(LOADED, 160.0)
    going.take(part(0, 50, 0.5), 165.0)
    assert going.rate(170.0) == 5.0


def test_the_end_is_judged_by_the_places_reached() -> None:
    going = progress()
    going.take(LOADED, 110.0)
    going.take(part(0, 50, 0.5), 115.0)
    going.take(part(1, 50, 0.5), 120.0)
    assert going.share == 0.25
    assert going.seconds_left(120.0) == pytest.approx(30.0)


def test_a_finished_shard_stands_for_its_places() -> None:
    going = progress()
    going.take(part(0, 50, 1.0), 110.0)
    assert going.share == 0.25
    going.take({"event": "shard_published", "shard": 0}, 111.0)
    assert going.share == 0.25
    assert going.shards_done == 1


def test_what_was_done_before_counts_for_the_whole_and_not_for_the_speed() -> None:
    going = progress(before=Counts(records=1000, ok=1000), shards_done=2)
    going.take(LOADED, 100.0)
    going.take(part(2, 50, 1.0), 110.0)
    assert going.total.records == 1050
    assert going.rate(110.0) == 5.0
    assert going.share == 0.75
    assert going.seconds_left(110.0) == pytest.approx(10.0)


def test_the_share_is_never_over_the_whole() -> None:
    going = progress(shards=1)
    going.take({"event": "shard_published", "shard": 0}, 110.0)
    going.take({"event": "shard_published", "shard": 0}, 111.0)
    assert going.share == 1.0


def test_a_place_reached_is_not_taken_back() -> None:
    going = progress()
    going.take(part(0, 1, 0.5), 110.0)
    going.take(part(0, 1, 0.25), 111.0)
    assert going.share == 0.125


def test_cost_is_of_one_machine_by_the_clock() -> None:
    assert progress(workers=8).usd(1100.0) == pytest.approx(1.0)
    assert progress(usd_per_hour=None).usd(1100.0) is None


def test_the_last_notes_of_libraries_are_kept() -> None:
    going = progress()
    for number in range(9):
        going.take({"event": "note", "text": f"warning {number}"}, 110.0)
    assert going.notes == [f"warning {number}" for number in range(4, 9)]


def test_replaced_workers_are_counted() -> None:
    going = progress()
    going.take({"event": "worker_died", "message": "killed"}, 110.0)
    assert going.restarts == 1


def test_events_of_later_versions_are_passed_over() -> None:
    progress().take({"event": "unheard_of", "x": 1}, 110.0)
