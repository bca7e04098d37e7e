"""What may change between attempts of one run, changed."""

from pathlib import Path

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.errors import SpecMismatchError
from gristmill.contract.load import override_tree, parse_blueprint
from gristmill.contract.run import POLICY, Policy


def changed_policy(blueprint: Blueprint, overrides: tuple[str, ...]) -> Policy:
    """The policy of a run's blueprint with some keys overridden.

    Raises SpecMismatchError for a key that decides the results, ConfigError for a wrong value.
    """
    for override in overrides:
        section = override.partition("=")[0].partition(".")[0].strip()
        if section in Blueprint.model_fields and section not in POLICY:
            raise SpecMismatchError(
                f"--set {override}: {section} decides the results, so it can't change within a "
                f"run; these can: {', '.join(POLICY)}. Start a new run with `gristmill run`"
            )
    tree = blueprint.model_dump(mode="json", exclude_none=True)
    override_tree(tree, overrides)
    return Policy.of(parse_blueprint(tree, "the run's blueprint", Path("/")))
