"""The table at the end of a run."""

import shlex

from gristmill.cli.console import console, say
from gristmill.client.report import Report
from gristmill.contract.units import show_seconds, show_usd


def print_summary(report: Report) -> None:
    """What came out, how fast, at what cost, where it lies and how to look at it."""
    console.print()
    for name, value in _rows(report):
        say(f"  {name:<15}{value}")
    console.print()
    run = shlex.quote(report.directory)
    if report.ok:
        say(f"look at results:   gristmill results {run} --head 3")
    if report.rejected:
        say(f"look at rejected:  gristmill results {run} --rejected --head 3")
    if report.state == "finished":
        say(f"prove it complete: gristmill verify {run} --deep")


def _rows(report: Report) -> list[tuple[str, str]]:
    rejected = ", ".join(f"{n:,} {reason}" for reason, n in report.rejected_by_class.items())
    rows = [
        ("run", f"{report.run} ({report.state})"),
        ("shards", f"{report.shards_done:,} of {report.shards:,}"),
        ("records", f"{report.ok:,} ok, {report.rejected:,} rejected")
        if not rejected
        else ("records", f"{report.ok:,} ok, {report.rejected:,} rejected ({rejected})"),
        ("speed", _speed(report)),
        ("time", _time(report)),
        ("cost", _cost(report)),
        ("results", report.output),
        ("run directory", report.directory),
    ]
    if report.padding_ratio:
        rows.insert(4, ("padding", f"{report.padding_ratio:.1%} of the computed tokens"))
    if report.lost_records:
        rows.insert(4, ("waste", f"{report.lost_records:,} records inferred in vain"))
    if report.useful_share is not None:
        rows.insert(-2, ("useful", f"{report.useful_share:.1%} of the workers' time"))
    if report.given_up:
        shards = ", ".join(report.given_up)
        rows.insert(2, ("given up", f"shards {shards}; `gristmill resume` tries again"))
    return rows


def _speed(report: Report) -> str:
    return f"{report.records_per_second:,.1f} items/s, {report.tokens_per_second:,.0f} tokens/s"


def _time(report: Report) -> str:
    here = f"{show_seconds(report.wall_seconds)} wall, " if report.wall_seconds else ""
    return (
        f"{here}{show_seconds(report.engine_seconds)} engine, "
        f"{show_seconds(report.load_seconds)} loading, {report.attempts} attempts"
    )


def _cost(report: Report) -> str:
    if report.usd is None:
        return "unknown: set capacity.usd_per_hour to the price of a machine-hour"
    if report.usd_per_1000 is None:
        return show_usd(report.usd)
    return f"{show_usd(report.usd_per_1000)} per 1,000 items, {show_usd(report.usd)} in all"
