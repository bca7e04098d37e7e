"""A JSON Schema -> a section for each object in it, a row for each key."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from table import Row, table

Node = dict[str, Any]


def schema_sections(schema: Node) -> str:
    parts = []
    for heading, description, node in _sections("", schema, schema):
        rows = [_key_row(name, field, node, schema) for name, field in node["properties"].items()]
        text = f"{description}\n\n" if description else ""
        parts.append(f"## {heading}\n\n{text}{table(('Key', 'Type', 'Default', ''), rows)}\n")
    return "".join(parts).rstrip("\n") + "\n"


def _sections(path: str, node: Node, schema: Node) -> Iterator[tuple[str, str, Node]]:
    """(heading, description, object) of an object and of all objects inside it."""
    kind = node["properties"].get("kind", {}).get("const")
    heading = f"{path}: {{kind: {kind}}}" if kind else path or "Top level"
    if node["properties"]:
        yield heading, node.get("description", ""), node
    for name, field in node["properties"].items():
        place = f"{name}.<name>" if _is_mapping(field) else name
        for inner in _objects(field, schema):
            yield from _sections(f"{path}.{place}" if path else place, inner, schema)


def _objects(field: Node, schema: Node) -> list[Node]:
    """The objects that a field may hold."""
    if "$ref" in field:
        return [schema["$defs"][field["$ref"].removeprefix("#/$defs/")]]
    if _is_mapping(field):
        return _objects(field["additionalProperties"], schema)
    choices: list[Node] = field.get("oneOf") or field.get("anyOf") or []
    return [inner for choice in choices for inner in _objects(choice, schema)]


def _key_row(name: str, field: Node, parent: Node, schema: Node) -> Row:
    inner = _objects(field, schema)
    description = field.get("description", "")
    if inner and not description:
        description = inner[0].get("description", "") if len(inner) == 1 else ""
    if name in parent.get("required", ()):
        default = "required"
    elif field.get("default") and len(inner) == 1:
        default = ""
    else:
        default = _default(field)
    return f"`{name}`", _type(field, inner), default, description


def _default(field: Node) -> str:
    value = field["default"]
    if value in (None, [], {}):
        return "absent"
    if isinstance(value, dict) and "kind" in value:
        return f"`{{kind: {value['kind']}}}`"
    if isinstance(value, int) and _is_size(field):
        value = f"{value // 2**20}MiB"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _type(field: Node, inner: list[Node]) -> str:
    if inner and _is_mapping(field):
        return "mapping of names to sections"
    if inner:
        kinds = [node["properties"].get("kind", {}).get("const") for node in inner]
        return f"section; `kind` is {', '.join(kinds)}" if all(kinds) else "section"
    choices = [c for c in field.get("anyOf", [field]) if c.get("type") != "null"]
    if _is_size(field):
        return "size, as `64MiB`"
    if any(c.get("type") == "number" and _is_text(o) for c, o in _pairs(choices)):
        return "duration, as `6h`"
    return " or ".join(_plain_type(choice) for choice in choices)


def _plain_type(choice: Node) -> str:
    if "const" in choice:
        return f"`{choice['const']}`"
    if "enum" in choice:
        return ", ".join(f"`{value}`" for value in choice["enum"])
    if choice.get("type") == "array":
        return f"list of {_plain_type(choice['items'])}s"
    if choice.get("type") == "object":
        value = choice["additionalProperties"]
        return f"mapping of names to {'types' if 'enum' in value else value['type'] + 's'}"
    return f"{choice.get('type', 'any')}{_bounds(choice)}"


def _bounds(choice: Node) -> str:
    low, high = choice.get("minimum"), choice.get("maximum")
    if "exclusiveMinimum" in choice:
        return f", above {choice['exclusiveMinimum']}"
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", from {low}" if low is not None else ""


def _is_mapping(field: Node) -> bool:
    return isinstance(field.get("additionalProperties"), dict)


def _is_size(field: Node) -> bool:
    return any(
        c.get("type") == "integer" and _is_text(o) for c, o in _pairs(field.get("anyOf", []))
    )


def _is_text(choice: Node) -> bool:
    return choice.get("type") == "string" and "pattern" in choice


def _pairs(choices: Iterable[Node]) -> list[tuple[Node, Node]]:
    flat = [inner for choice in choices for inner in choice.get("anyOf", [choice])]
    return [(one, other) for one in flat for other in flat]
