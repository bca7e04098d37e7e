"""How each check is tried: small apps that pass, fail and can't be told, and a planted fault."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Tree = dict[str, Any]
"""One cdk.tf.json, parsed."""
Trees = dict[str, Tree]
"""Stacks by name, such as `embed-corpus-compute`."""


@dataclass(frozen=True)
class Cases:
    """`judged` is the address of the resource that the check is asked about."""

    judged: str
    passes: Sequence[Trees]
    fails: Sequence[Trees]
    cannot_tell: Sequence[Trees]
    plant: Callable[[Trees], None]
    """Puts the fault into the stacks of the shipped blueprints, in place."""
    choices: Mapping[str, Any] | None = None
    """What platform.yaml says, beside the stacks."""


def one(type_: str, /, **conf: Any) -> Trees:
    """An app of one stack with one resource, called `it`."""
    return {"team-compute": {"resource": {type_: {"it": conf}}}}


def several(**stacks: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Trees:
    """Stacks by name, `_` for `-`; each with resources by type and name."""
    return {
        name.replace("_", "-"): {"resource": copy.deepcopy(dict(resources))}
        for name, resources in stacks.items()
    }


def of_type(trees: Trees, type_: str) -> list[Tree]:
    """The resources of a type in all stacks. A fault can only be planted where there is one."""
    found = [
        conf for tree in trees.values() for conf in tree.get("resource", {}).get(type_, {}).values()
    ]
    assert found, f"no {type_} in {sorted(trees)}"
    return found
