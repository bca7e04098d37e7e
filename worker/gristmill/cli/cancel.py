"""`gristmill cancel`."""

import shlex

from gristmill.cli.console import print_json, say
from gristmill.cli.options import Json, RunName, Runs, here
from gristmill.client.plan import find_run
from gristmill.client.report import Report
from gristmill.client.state import read_state
from gristmill.contract.manifest import Control
from gristmill.runtime.control import want
from gristmill.runtime.host import WallClock


def cancel(run: RunName, runs: Runs = "runs", json: Json = False) -> None:
    """Stop a run wherever it is worked on. What is finished is kept, `resume` goes on."""
    found = find_run(run, here(runs))
    state = read_state(found.store)
    if state.manifest is None:
        want(found.store, Control(wanted="cancel", at=WallClock().now()))
        state = read_state(found.store)
    if json:
        print_json(Report.of(found, state, found.spec.blueprint.capacity.usd_per_hour))
    elif state.manifest is not None:
        say(f"run {found.spec.run} is finished; there is nothing to cancel")
    else:
        say(
            f"run {found.spec.run} is cancelled: its workers stop within seconds; "
            f"{state.counts.records:,} records are finished and kept"
        )
        say(f"to go on: gristmill resume {shlex.quote(found.store.uri)}")
