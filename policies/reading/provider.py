"""Whose a stack is: what its provider says of tags and accounts."""

from collections.abc import Mapping
from typing import Any, Final

from policies.reading.stack import CannotTellError, Resource, Stack, blocks, literal

BLUEPRINT: Final = "gristmill:blueprint"
PLATFORM: Final = "gristmill:platform"
TEAM: Final = "gristmill:team"


def default_tags(stack: Stack) -> Mapping[str, Any]:
    """Those that every provider of a stack gives to what it makes."""
    given = [_tags(provider) for provider in _providers(stack)]
    first, *others = given or [{}]
    return {
        name: value for name, value in first.items() if all(o.get(name) == value for o in others)
    }


def blueprint(stack: Stack) -> str:
    """Name of the blueprint that a stack is for; empty: it is for all."""
    return str(literal(default_tags(stack).get(BLUEPRINT) or "", f"{stack.name}: {BLUEPRINT}"))


def accounts(stack: Stack) -> set[str]:
    """The accounts that a stack may be deployed to. Raises CannotTellError where none is named."""
    found: set[str] = set()
    for provider in _providers(stack):
        named = literal(provider.get("allowed_account_ids"), "allowed_account_ids")
        found |= {str(account) for account in named} if isinstance(named, list) else set()
    if not found or any("${" in account for account in found):
        raise CannotTellError(f"{stack.name}: its provider names no account in allowed_account_ids")
    return found


def same_blueprint(resource: Resource, type_: str) -> list[Resource]:
    """Resources of a type in the stacks of the same blueprint.

    Raises CannotTellError where the resource's stack is of none.
    """
    mine = blueprint(resource.stack)
    if not mine:
        raise CannotTellError(f"{resource.stack.name}: its default_tags lack {BLUEPRINT}")
    return [r for r in resource.app.resources(type_) if blueprint(r.stack) == mine]


def _providers(stack: Stack) -> list[Mapping[str, Any]]:
    return blocks(stack.tree.get("provider") or {}, "aws")


def _tags(provider: Mapping[str, Any]) -> Mapping[str, Any]:
    tags: dict[str, Any] = {}
    for block in blocks(provider, "default_tags"):
        found = literal(block.get("tags") or {}, "default_tags")
        if not isinstance(found, Mapping):
            raise CannotTellError(f"default_tags are {found!r}, not names with values")
        tags |= found
    return tags
