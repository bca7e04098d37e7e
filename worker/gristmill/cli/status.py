"""`gristmill status`."""

from gristmill.cli.console import print_json
from gristmill.cli.options import Json, RunName, Runs, here
from gristmill.cli.summary import print_summary
from gristmill.client.plan import find_run
from gristmill.client.report import Report
from gristmill.client.state import read_state


def status(run: RunName, runs: Runs = "runs", json: Json = False) -> None:
    """How far a run is, from what it has published."""
    found = find_run(run, here(runs))
    price = found.spec.blueprint.capacity.usd_per_hour
    report = Report.of(found, read_state(found.store), price)
    if json:
        print_json(report)
    else:
        print_summary(report)
