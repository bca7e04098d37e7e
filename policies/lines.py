"""Which line of a YAML or JSON file says what."""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from policies.finding import CannotJudgeError


@dataclass(frozen=True, slots=True)
class Span:
    """Lines from 1, both ends included."""

    first: int
    last: int


def resource_spans(text: str, source: str) -> dict[tuple[str, str], Span]:
    """Of a cdk.tf.json: (type, name) of each resource -> its lines, the one of its name first."""
    spans = {}
    for type_, _, named in _members(_member(_node(text, source), "resource")):
        for name, key, conf in _members(named):
            spans[type_, name] = Span(key.start_mark.line + 1, conf.end_mark.line + 1)
    return spans


def key_line(text: str, source: str, dotted: str) -> int:
    """Where `a.b.c` stands, or as much of it as there is; 1 where nothing of it is."""
    node, line = _node(text, source), 1
    for wanted in dotted.split("."):
        for name, key, value in _members(node):
            if name == wanted:
                node, line = value, key.start_mark.line + 1
                break
        else:
            return line
    return line


def _node(text: str, source: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise CannotJudgeError(f"{source}: can't be read ({error})") from None


def _member(node: yaml.Node | None, wanted: str) -> yaml.Node | None:
    return next((value for name, _, value in _members(node) if name == wanted), None)


def _members(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key.value, key, value


def item_lines(text: str, source: str, key: str) -> tuple[int, ...]:
    """Where each item of the list `key` begins."""
    items = _member(_node(text, source), key)
    if not isinstance(items, yaml.SequenceNode):
        return ()
    return tuple(item.start_mark.line + 1 for item in items.value)
