"""Planning: seconds and memory, from listings alone."""

import json
import subprocess
import sys

import pytest

from tests.bench.conftest import Bench

pytestmark = pytest.mark.bench

PLAN = """
import json, sys, time
from gristmill.client.cut import cut_shards
from gristmill.client.listing import list_input
from gristmill.contract.dataset import Input
from gristmill.contract.shard import encode_page
from gristmill.formats.open import open_reader
from gristmill.runtime.read import StoreSource
from gristmill.runtime.telemetry import peak_rss
from tests.doubles.synthetic_listing import SyntheticListing

count, size = int(sys.argv[1]), int(sys.argv[2])
source = Input.model_validate({"uri": "s3://bucket/in/", "format": {"kind": "jsonl"}})
reader, store = open_reader(source, ()), SyntheticListing(count, size)
began = time.perf_counter()
listing = list_input(store, source)
shards = planned = 0
for shard in cut_shards(listing.objects, reader, lambda o: StoreSource(store, o), 64 * 2**20):
    shards, planned = shards + 1, planned + len(encode_page([shard]))
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "peak": peak_rss(), "shards": shards, "bytes": planned}))
"""


def plan(objects: int, size: int) -> dict[str, float]:
    """Plan a synthetic listing in a process of its own, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, "-c", PLAN, str(objects), str(size)],
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def test_100_000_objects_are_planned_in_3_seconds_and_300_mb(bench: Bench) -> None:
    took = plan(100_000, 200_000)
    bench.at_most("plan: seconds for 100,000 objects", took["seconds"], 3.0)
    bench.at_most("plan: MB for 100,000 objects", took["peak"] / 10**6, 300)


def test_a_billion_records_are_planned_from_their_listing(bench: Bench) -> None:
    # 20,000 objects of 10 MB, 200 bytes a record: 10^9 records.
    took = plan(20_000, 10**7)
    note = f"{took['shards']:,.0f} shards, a plan of {took['bytes'] / 10**6:.1f} MB"
    bench.at_most("plan: seconds for 1,000,000,000 records", took["seconds"], 5.0, note)
    bench.at_most("plan: MB for 1,000,000,000 records", took["peak"] / 10**6, 300, note)
