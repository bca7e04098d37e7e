"""`gristmill worker`: what a container runs. Everything comes from the environment."""

import typer

from gristmill.runtime.process import main


def worker() -> None:
    """Work on the run that the environment names, until no shard is left."""
    raise typer.Exit(main())
