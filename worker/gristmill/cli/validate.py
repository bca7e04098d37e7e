"""`gristmill validate`."""

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.console import say
from gristmill.cli.options import Overrides
from gristmill.client.check import check_blueprint
from gristmill.contract.load import load_blueprint


def validate(
    blueprint: Annotated[Path, typer.Argument(help="A blueprint.yaml, or its folder.")],
    set_: Overrides = None,
) -> None:
    """Check a blueprint without touching its data: keys, values, templates, model."""
    loaded = load_blueprint(blueprint, tuple(set_ or ()))
    check_blueprint(loaded)
    say(f"{blueprint}: valid ({loaded.task.kind} with {loaded.task.engine.kind})")
