"""`gristmill init`."""

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.console import say
from gristmill.client.fork import fork


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    from_: Annotated[str, typer.Option("--from", metavar="NAME", help="A shipped blueprint.")],
) -> None:
    """Fork a shipped blueprint: copy its folder, to be edited."""
    fork(from_, folder)
    say(f"{folder} is yours: edit {folder / 'blueprint.yaml'}, then gristmill run {folder}")
