"""`gristmill results`."""

from itertools import islice
from typing import Annotated

import typer

from gristmill.cli.options import RunName, Runs, here
from gristmill.client.plan import find_run
from gristmill.client.results import rejected_lines, result_lines


def results(
    run: RunName,
    runs: Runs = "runs",
    head: Annotated[int, typer.Option("--head", min=1, help="How many to print.")] = 10,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="The rejected records instead, with the reason.")
    ] = False,
) -> None:
    """Print the first results, or the first rejected records, a JSON object a line."""
    found = find_run(run, here(runs))
    lines = rejected_lines(found) if rejected else result_lines(found)
    for line in islice(lines, head):
        typer.echo(line)
