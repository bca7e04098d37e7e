"""Collects what the benchmarks measured: a table at the end, and build/bench.json."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest


@dataclass(frozen=True)
class Row:
    """One measured ratio, and the bar that it has to meet."""

    name: str
    ratio: float
    bar: float
    side: Literal["at least", "at most"]
    note: str

    @property
    def passed(self) -> bool:
        return self.ratio >= self.bar if self.side == "at least" else self.ratio <= self.bar


class Bench:
    """Records first and judges then, so that a missed bar is in the table too."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def at_least(self, name: str, ratio: float, bar: float, note: str = "") -> None:
        self._judge(Row(name, ratio, bar, "at least", note))

    def at_most(self, name: str, ratio: float, bar: float, note: str = "") -> None:
        self._judge(Row(name, ratio, bar, "at most", note))

    def _judge(self, row: Row) -> None:
        self.rows.append(row)
        assert row.passed, f"{row.name}: {row.ratio:.3f}, must be {row.side} {row.bar}; {row.note}"


_ROWS = pytest.StashKey[list[Row]]()


@pytest.fixture(scope="session")
def bench(pytestconfig: pytest.Config) -> Bench:
    measured = Bench()
    pytestconfig.stash[_ROWS] = measured.rows
    return measured


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash.get(_ROWS, [])
    if not rows:
        return
    _write(config.rootpath / "build" / "bench.json", rows)
    width = max(len(row.name) for row in rows)
    terminalreporter.section("bench")
    for row in rows:
        verdict = "pass" if row.passed else "MISS"
        terminalreporter.write_line(
            f"{row.name:<{width}}  {row.ratio:8.3f}  {row.side} {row.bar:<6g} {verdict}  {row.note}"
        )


def _write(path: Path, rows: list[Row]) -> None:
    table = {
        row.name: {
            "ratio": round(row.ratio, 4),
            "bar": row.bar,
            "side": row.side,
            "pass": row.passed,
            "note": row.note,
        }
        for row in rows
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
