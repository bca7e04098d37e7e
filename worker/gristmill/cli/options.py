"""Options that several commands share, each spelled once."""

from pathlib import Path
from typing import Annotated

import typer

from gristmill.contract.load import absolute_uri
from gristmill.contract.process import ENV_RUNS

RunName = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run's id, or the path or URI of its directory."),
]
Runs = Annotated[
    str,
    typer.Option("--runs", envvar=ENV_RUNS, metavar="URI", help="Where run directories lie."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
Workers = Annotated[
    int,
    typer.Option("--workers", min=1, max=256, help="Worker processes on this machine."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one key, as part.records=512."),
]


def here(uri: str) -> str:
    """A path given on the command line starts at the working folder."""
    return absolute_uri(uri, Path.cwd())
