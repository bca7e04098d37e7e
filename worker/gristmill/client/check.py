"""A blueprint checked as far as it goes without its data."""

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.model import model_revision
from gristmill.formats.open import open_reader


def check_blueprint(blueprint: Blueprint) -> None:
    """Compile its templates and find its model. Raises ConfigError."""
    open_reader(blueprint.input, blueprint.output.carry)
    model_revision(blueprint.task)
