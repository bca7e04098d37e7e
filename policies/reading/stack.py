"""Synthesized stacks as the checks read them: the JSON that Terraform gets, not reshaped."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from policies.reading.strict_json import loads

STACK_FILE: Final = "cdk.tf.json"
CHOICES_FILE: Final = "choices.json"
"""Beside the stacks: what platform.yaml says that no resource shows, such as its egress."""
_ATTRIBUTE: Final = re.compile(r"\$\{([a-z][a-z0-9_]*)\.([A-Za-z0-9_-]+)\.[^}]+\}")
_REMOTE: Final = re.compile(
    r"\$\{data\.terraform_remote_state\.[A-Za-z0-9_-]+\.outputs\.([A-Za-z0-9_-]+)\}"
)


class CannotTellError(Exception):
    """A check can't see what it must judge. That fails, as a fault does, with this text."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One resource of a stack."""

    type: str
    name: str
    conf: Mapping[str, Any]
    stack: "Stack" = field(repr=False)

    @property
    def address(self) -> str:
        return f"{self.type}.{self.name}"

    @property
    def path(self) -> str:
        """Its place in the construct tree; the address within the stack where none is written."""
        note = self.conf.get("//")
        metadata = note.get("metadata") if isinstance(note, Mapping) else None
        path = metadata.get("path") if isinstance(metadata, Mapping) else None
        return str(path or f"{self.stack.name}/{self.address}")

    @property
    def app(self) -> "App":
        return self.stack.app

    def blocks(self, name: str) -> list[Mapping[str, Any]]:
        """The blocks called `name`: Terraform's JSON writes one as an object or as a list."""
        return blocks(self.conf, name)

    def block(self, name: str) -> Mapping[str, Any]:
        """The first block called `name`; empty where there is none."""
        return next(iter(self.blocks(name)), {})


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """One cdk.tf.json."""

    name: str
    tree: Mapping[str, Any]
    app: "App" = field(repr=False)

    def resources(self, type_: str | None = None) -> Iterator[Resource]:
        """Of a type; None: all."""
        for kind, named in self.tree.get("resource", {}).items():
            if type_ in (None, kind):
                for name, conf in named.items():
                    yield Resource(kind, name, conf, self)


@dataclass(frozen=True, slots=True, eq=False)
class App:
    """All stacks that were synthesized together. A check may look across them."""

    stacks: dict[str, Stack] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, trees: Mapping[str, Any], choices: Mapping[str, Any] | None = None) -> "App":
        """From parsed stacks by name."""
        app = cls({}, choices or {})
        app.stacks.update({name: Stack(name, tree, app) for name, tree in sorted(trees.items())})
        return app

    @classmethod
    def load(cls, folder: Path) -> "App":
        """`folder` has one folder a stack. Raises OSError and ValueError for what is unreadable."""
        choices = folder / CHOICES_FILE
        return cls.of(
            {
                path.parent.name: loads(path.read_text())
                for path in sorted(folder.glob(f"*/{STACK_FILE}"))
            },
            loads(choices.read_text()) if choices.exists() else {},
        )

    def resources(self, type_: str | None = None) -> Iterator[Resource]:
        """Of a type, in every stack; None: all."""
        for stack in self.stacks.values():
            yield from stack.resources(type_)

    def only(self, names: Collection[str]) -> "App":
        """These stacks alone."""
        trees = {name: stack.tree for name, stack in self.stacks.items() if name in names}
        return App.of(trees, self.choices)

    def has(self, type_: str) -> bool:
        return next(self.resources(type_), None) is not None

    def target(self, reference: object, stack: Stack) -> Resource | None:
        """The resource that `${type.name.attribute}` in `stack` means, also through another
        stack's outputs; None where it is no such reference or means nothing here."""
        text = str(reference)
        if remote := _REMOTE.fullmatch(text):
            for other in self.stacks.values():
                output = other.tree.get("output", {}).get(remote[1])
                if output is not None:
                    return self.target(output.get("value"), other)
        if (local := _ATTRIBUTE.fullmatch(text)) and local[1] != "data":
            conf = stack.tree.get("resource", {}).get(local[1], {}).get(local[2])
            return Resource(local[1], local[2], conf, stack) if conf is not None else None
        return None


def blocks(conf: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Raises CannotTellError where what stands there is no block."""
    value = conf.get(name)
    found = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(block, Mapping) for block in found):
        raise CannotTellError(f"{name} is no block but {value!r}")
    return found


def literal(value: object, what: str) -> object:
    """`value`, when it is known before anything is deployed. Raises CannotTellError otherwise."""
    if isinstance(value, str) and "${" in value:
        raise CannotTellError(f"{what} is {value!r}, which is known only after it is deployed")
    return value


def parsed(text: object, what: str) -> Any:
    """The JSON inside of an attribute. Raises CannotTellError where it is none."""
    if not isinstance(text, str):
        raise CannotTellError(f"{what} is {text!r}, not a text of JSON")
    try:
        return loads(text)
    except ValueError:
        raise CannotTellError(f"{what} is not JSON that can be read here: {text[:60]!r}") from None
