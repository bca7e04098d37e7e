"""`gristmill run` and `gristmill resume`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live

from gristmill.cli.console import complain, console, print_json, say
from gristmill.cli.options import Json, Overrides, RunName, Runs, Workers, here
from gristmill.cli.summary import print_summary
from gristmill.cli.view import LiveView, PlainView, SilentView
from gristmill.client.local import go
from gristmill.client.plan import Progress, Run, find_run, open_run, refuse_changed_input
from gristmill.client.policy import changed_policy
from gristmill.client.report import Report
from gristmill.contract.load import load_blueprint
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy
from gristmill.runtime.host import WallClock

LONG_PLAN = 10_000
"""Objects or shards from which on a person is told how planning goes."""

RunId = Annotated[
    str | None,
    typer.Option(
        "--run-id",
        metavar="ID",
        help="Name of the run. The same name is the same run. Default: made from what decides "
        "the results.",
    ),
]


def run(
    blueprint: Annotated[Path, typer.Argument(help="A blueprint.yaml, or its folder.")],
    input_: Annotated[
        str | None, typer.Option("--input", metavar="URI", help="Instead of input.uri.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="URI", help="Instead of output.uri.")
    ] = None,
    run_id: RunId = None,
    workers: Workers = 1,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many records: for a trial.")
    ] = None,
    set_: Overrides = None,
    runs: Runs = "runs",
    json: Json = False,
) -> None:
    """Run a blueprint on this machine, or go on with the same run."""
    values = {
        key: here(value)
        for key, value in (("input.uri", input_), ("output.uri", output))
        if value is not None
    }
    loaded = load_blueprint(blueprint, tuple(set_ or ()), values)
    opened = open_run(loaded, here(runs), run_id, limit, _planning(silent=json))
    _go(opened, Policy.of(loaded), workers, json=json)


def resume(
    run: RunName,
    workers: Workers = 1,
    set_: Overrides = None,
    runs: Runs = "runs",
    json: Json = False,
) -> None:
    """Go on with a run: what is finished is kept, the rest is done."""
    found = find_run(run, here(runs))
    policy = changed_policy(found.spec.blueprint, tuple(set_ or ()))
    refuse_changed_input(found)
    _go(found, policy, workers, json=json)


def _go(opened: Run, policy: Policy, workers: int, *, json: bool) -> None:
    clock = WallClock()
    if json:
        report = go(opened, policy, workers, clock, SilentView())
        print_json(report)
    else:
        verb = "starts" if opened.created else "goes on"
        say(f"run {opened.spec.run} {verb}: {opened.plan.shards} shards in {opened.store.uri}")
        for why, count in opened.plan.skipped.items():
            say(f"left out: {count:,} objects, {why}")
        report = _shown(opened, policy, workers, clock)
        print_summary(report)
    _end(report)


def _shown(opened: Run, policy: Policy, workers: int, clock: WallClock) -> Report:
    if not console.is_terminal:
        return go(opened, policy, workers, clock, PlainView())
    with Live(console=console, auto_refresh=False, transient=True) as live:
        return go(opened, policy, workers, clock, LiveView(live))


def _end(report: Report) -> None:
    if report.exit_code == ExitCode.DONE:
        return
    complain(report.message or "the run stopped")
    if report.state != "finished":
        say(f"to go on: gristmill resume {shlex.quote(report.directory)}")
    raise typer.Exit(report.exit_code)


def _planning(*, silent: bool) -> Progress:
    """Says how far planning is, where it takes long enough to wonder."""

    def tell(what: str, count: int) -> None:
        if not silent and count >= LONG_PLAN:
            say(f"planning: {count:,} {what}")

    return tell
