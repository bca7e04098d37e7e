"""What the machinery costs when the engine costs nothing, and how much memory it takes."""

import random
import time
from pathlib import Path

import polars as pl
import pytest

from gristmill.client.local import go
from gristmill.client.plan import open_run
from gristmill.client.state import read_state
from gristmill.contract.load import load_blueprint
from gristmill.contract.manifest import AttemptReport
from gristmill.contract.run import Policy
from gristmill.contract.units import show_bytes
from gristmill.runtime.host import WallClock
from tests.bench.conftest import Bench
from tests.doubles.silent_view import SilentView

pytestmark = pytest.mark.bench

SELFTEST = Path("blueprints/selftest/blueprint.yaml")
WORDS = ("the", "mill", "grinds", "what", "it", "is", "given", "every", "record", "has", "one")


def run_echo(source: Path, folder: Path, *overrides: str) -> AttemptReport:
    """One worker over one file of JSON lines, Parquet out; what its attempt reports."""
    blueprint = load_blueprint(
        SELFTEST,
        ("output.format.kind=parquet", "input.format.id=id", *overrides),
        {"input.uri": str(source), "output.uri": str(folder / "out")},
    )
    run = open_run(blueprint, str(folder / "runs"))
    report = go(run, Policy.of(blueprint), 1, WallClock(), SilentView())
    assert report.exit_code == 0, report.message
    (attempt,) = read_state(run.store).attempts
    return attempt


def write_lines(path: Path, records: int, words: int) -> Path:
    """JSON lines of an id and a text of so many words."""
    pick = random.Random(7)
    texts = [" ".join(pick.choices(WORDS, k=words)) for _ in range(1000)]
    with path.open("w", encoding="utf-8") as out:
        for index in range(records):
            out.write(f'{{"id":"r{index}","text":"{texts[index % 1000]}"}}\n')
    return path


def test_one_worker_moves_100_000_short_records_a_second(bench: Bench, tmp_path: Path) -> None:
    records = 1_000_000
    source = write_lines(tmp_path / "short.jsonl", records, words=8)
    attempt = run_echo(source, tmp_path, "part.records=16384")
    seconds = attempt.seconds - attempt.load_seconds

    began = time.perf_counter()
    pl.read_ndjson(source).write_parquet(tmp_path / "polars.parquet")
    columnar = time.perf_counter() - began

    rate = records / seconds
    bench.at_least(
        "echo: speed over the time polars takes to read and write the same",
        columnar / seconds,
        0,
        "the columnar limit, stated",
    )
    bench.at_least("echo: records/s, over 100,000", rate / 100_000, 1.0, f"{rate:,.0f} records/s")


def test_memory_does_not_grow_with_the_file(bench: Bench, tmp_path: Path) -> None:
    small = write_lines(tmp_path / "small.jsonl", 10_000, words=350)
    large = tmp_path / "large.jsonl"
    body = small.read_bytes()
    with large.open("wb") as out:
        for _ in range(2 * 10**9 // len(body) + 1):
            out.write(body)

    few = run_echo(small, tmp_path / "few").peak_rss
    many = run_echo(large, tmp_path / "many").peak_rss
    sizes = f"{show_bytes(small.stat().st_size)} and {show_bytes(large.stat().st_size)}"
    bench.at_most(
        "memory: MB that a worker takes more for a hundredfold file",
        (many - few) / 10**6,
        60,
        f"{few / 10**6:,.0f} MB and {many / 10**6:,.0f} MB at {sizes}",
    )
