"""The form that stacks must have, so that what is judged is all that Terraform would make of them.

Infrastructure that needs more than this must teach it here, with a check that judges it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from policies.reading.stack import STACK_FILE, App, Stack

PARTS: Final = frozenset({"//", "terraform", "provider", "resource", "data", "output"})
"""Of a stack. A module, for one, would hold resources that lie elsewhere."""
DATA: Final = frozenset({"terraform_remote_state"})
"""Others may run programs, or bring in what can't be seen here."""
PROVIDER: Final = frozenset({"allowed_account_ids", "default_tags", "region"})
"""A provider with an alias or another role would act elsewhere."""
RUNNING: Final = ("connection", "provisioner")
READ_BY_TERRAFORM: Final = (".tf", ".tf.json", ".tfvars", ".tfvars.json", ".tofu", ".tofu.json")


def misshapen(stacks: Path, app: App) -> Iterator[str]:
    """What is there beside, or instead of, resources in their plain form. A sentence each."""
    for stack in app.stacks.values():
        for file in sorted((stacks / stack.name).iterdir()):
            if file.name != STACK_FILE and file.name.endswith(READ_BY_TERRAFORM):
                yield f"{file}: Terraform would read it too; only {STACK_FILE} is judged"
        yield from (f"{stack.name}: {fault}" for fault in _stack(stack))


def account_faults(app: App, account: str) -> Iterator[str]:
    """Stacks whose provider could act in another account than the platform's."""
    for stack in app.stacks.values():
        for provider in _listed(stack.tree.get("provider", {}).get("aws")):
            if provider.get("allowed_account_ids") != [account]:
                yield (
                    f"{stack.name}: the provider's allowed_account_ids are "
                    f"{provider.get('allowed_account_ids')}, must be [{account}]"
                )


def _stack(stack: Stack) -> Iterator[str]:
    tree = stack.tree
    yield from (f"{part} can't be judged" for part in sorted(set(tree) - PARTS))
    yield from (f"data.{kind} can't be judged" for kind in sorted(set(_at(tree, "data")) - DATA))
    yield from _providers(_at(tree, "provider"))
    if isinstance(tree.get("resource", {}), Mapping):
        yield from _resources(stack, _at(tree, "resource"))
    else:
        yield "resource is no object; write resources by type and name"


def _providers(providers: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"provider {name} can't be judged" for name in sorted(set(providers) - {"aws"}))
    found = _listed(providers.get("aws"))
    if len(found) > 1:
        yield f"there are {len(found)} providers, must be one"
    for provider in found:
        if more := sorted(set(provider) - PROVIDER):
            yield f"provider.aws has {', '.join(more)}, which can't be judged"


def _resources(stack: Stack, named_by_type: Mapping[str, Any]) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for type_, named in named_by_type.items():
        if not isinstance(named, Mapping):
            yield f"resource.{type_} is no object; write resources by type and name"
            continue
        for name, conf in named.items():
            address = f"{type_}.{name}"
            if not isinstance(conf, Mapping):
                yield f"{address} is no object"
                continue
            path = _path(conf) or f"{stack.name}/{address}"
            yield from (f"{address} has a {key}" for key in RUNNING if key in conf)
            if path.split("/")[0] != stack.name:
                yield f"{address} says that it is {path}, of another stack"
            if other := seen.get((type_, path)):
                yield f"{address} says that it is {path}, as {other} does"
            seen[type_, path] = address


def _path(conf: Mapping[str, Any]) -> str:
    """Empty where none is written."""
    note = conf.get("//")
    metadata = note.get("metadata") if isinstance(note, Mapping) else None
    return str(metadata.get("path", "")) if isinstance(metadata, Mapping) else ""


def _at(tree: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = tree.get(part, {})
    return found if isinstance(found, Mapping) else {part: found}


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]
