"""blueprint.yaml -> Blueprint, platform.yaml -> Platform. The only reader of YAML; its errors are
for the one who wrote it."""

import difflib
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.errors import ConfigError
from gristmill.contract.platform import Platform

Model = TypeVar("Model", bound=BaseModel)


def load_blueprint(
    path: Path, overrides: tuple[str, ...] = (), values: dict[str, Any] | None = None
) -> Blueprint:
    """Read, override (`a.b=value`, the value as YAML), validate; URIs come out absolute.

    `values` are set last, by dotted path, as they are.

    Raises ConfigError with one line per fault: path, what came, what is allowed.
    """
    file = path / "blueprint.yaml" if path.is_dir() else path
    tree = _mapping(_read(file), str(file))
    override_tree(tree, overrides)
    for key, value in (values or {}).items():
        _assign(tree, key, value, key)
    return parse_blueprint(tree, str(file), file.parent)


def deployable_blueprints(named: str | None) -> list[tuple[str, Blueprint]]:
    """Each with the path that its errors start with. `named`: paths by spaces; None: all of
    `blueprints/*/` that name GPUs. Raises ConfigError."""
    if named:
        files = [Path(path) for path in named.split()]
        files = [file / "blueprint.yaml" if file.is_dir() else file for file in files]
        return [(str(file), load_blueprint(file)) for file in files]
    found = sorted(Path("blueprints").glob("*/blueprint.yaml"))
    loaded = [(str(path), load_blueprint(path)) for path in found]
    return [(path, blueprint) for path, blueprint in loaded if blueprint.capacity.gpus]


def override_tree(tree: dict[Any, Any], overrides: tuple[str, ...]) -> None:
    """Set each `a.b=value` in a tree of plain values, in place. Raises ConfigError."""
    for override in overrides:
        key, sign, value = override.partition("=")
        if not sign or not key:
            raise ConfigError(f"--set {override}: must be key=value, as in part.records=512")
        _assign(tree, key.strip(), _parse(value, f"--set {override}"), f"--set {override}")


def parse_blueprint(tree: object, source: str, folder: Path) -> Blueprint:
    """Validate a tree of plain values. `source` starts each line of an error."""
    return _absolute(_validated(Blueprint, tree, source), folder)


def load_platform(path: Path) -> Platform:
    """Read and validate. Raises ConfigError with one line per fault."""
    return _validated(Platform, _read(path, "platform.yaml"), str(path))


def absolute_uri(uri: str, folder: Path) -> str:
    """A local path made absolute; URIs with a scheme stay."""
    if "://" in uri:
        return uri
    tail = "/" if uri.endswith("/") else ""
    return str((folder / Path(uri).expanduser()).resolve()) + tail


class _Loader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.YAMLError(
                    f"line {line}: a key must be plain text; put quotes around a template, as in "
                    'text: "{{ body }}"'
                )
            if key_node.value in seen:
                raise yaml.YAMLError(f"line {line}: key {key_node.value!r} is given twice")
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


def _validated(model: type[Model], tree: object, source: str) -> Model:
    sections = _mapping(tree, source)
    try:
        return model.model_validate(sections)
    except ValidationError as error:
        lines = [f"{source}: {_sentence(e, sections, model)}" for e in error.errors()]
        raise ConfigError("\n".join(dict.fromkeys(lines))) from None


def _mapping(tree: object, source: str) -> dict[Any, Any]:
    if not isinstance(tree, dict):
        raise ConfigError(f"{source}: must be a mapping of sections, got {_show(tree)}")
    return tree


def _read(path: Path, wanted: str = "blueprint.yaml") -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; name a {wanted}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; name a {wanted}") from None
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror})") from None
    return _parse(text, str(path))


def _parse(text: str, source: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ConfigError(f"{source}: line {line} is not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: is not valid YAML: {error}") from None


def _assign(tree: Any, dotted: str, value: Any, source: str) -> None:
    *parents, last = dotted.split(".")
    for parent in parents:
        if not isinstance(tree, dict):
            break
        if tree.get(parent) is None:
            tree[parent] = {}
        tree = tree[parent]
    if not isinstance(tree, dict):
        raise ConfigError(f"{source}: {dotted} goes through a value that has no keys")
    tree[last] = value


def _sentence(error: ErrorDetails, tree: dict[Any, Any], model: type[BaseModel]) -> str:
    path = _path(error, tree)
    came = _show(error.get("input"))
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return _unknown_key(path, tree, model)
        case "missing":
            return f"{path}: is missing; it has no default"
        case "value_error":
            said = str(context["error"])
            return (
                f"{path}: got {came}, {said}"
                if _is_scalar(error.get("input"))
                else (f"{path}: {said}" if path else said)
            )
        case "greater_than_equal" | "less_than_equal" | "greater_than" | "less_than":
            return f"{path}: got {came}, must be {_bounds(path, error['msg'], model)}"
        case "union_tag_invalid":
            return f"{path}: got {context['tag']}, must be one of {context['expected_tags']}"
        case "union_tag_not_found":
            return f"{path}.kind: is missing; it says which kind of {path.split('.')[-1]} this is"
        case "literal_error":
            return f"{path}: got {came}, must be {context['expected']}"
        case "string_pattern_mismatch":
            return (
                f"{path}: got {came}, must be lower-case letters, digits and hyphens, "
                "start with a letter and have at most 48 characters"
            )
        case _:
            said = error["msg"].replace("Input should be", "must be")
            return f"{path}: got {came}, {said}"


def _bounds(path: str, said: str, model: type[BaseModel]) -> str:
    """Both ends of an interval, wherever the schema has them; the message has only the one hit."""
    wanted = said.removeprefix("Input should be ")
    field = _field_at(path, model)
    low = high = None
    for item in field.metadata if field else ():
        low = getattr(item, "ge", None) if getattr(item, "ge", None) is not None else low
        high = getattr(item, "le", None) if getattr(item, "le", None) is not None else high
    return f"{low} to {high}" if low is not None and high is not None else wanted


def _field_at(path: str, root: type[BaseModel]) -> Any:
    model: Any = root
    field = None
    for step in path.split("."):
        found = next((m for m in _models(model) if step in m.model_fields), None)
        if found is None:
            return None
        field = found.model_fields[step]
        model = field.annotation
    return field


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models(inner)]


def _path(error: ErrorDetails, tree: dict[Any, Any]) -> str:
    """The path as the file has it: without the union tags that pydantic puts in between."""
    steps: list[str] = []
    node: Any = tree
    for step in error["loc"]:
        if isinstance(node, dict) and node.get("kind") == step and step not in node:
            continue
        steps.append(str(step))
        node = node.get(step) if isinstance(node, dict) else None
    return ".".join(steps)


def _unknown_key(path: str, tree: dict[Any, Any], model: type[BaseModel]) -> str:
    parent, _, key = path.rpartition(".")
    known = _known_keys(parent, tree, model)
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(known))}"
    return f"{path}: unknown key; {hint}"


def _known_keys(parent: str, tree: dict[Any, Any], root: type[BaseModel]) -> list[str]:
    if not parent:
        return list(root.model_fields)
    field = _field_at(parent, root)
    node: Any = tree
    for step in parent.split("."):
        node = node.get(step) if isinstance(node, dict) else None
    kind = node.get("kind") if isinstance(node, dict) else None
    models = _models(field.annotation) if field else []
    tagged = [
        m
        for m in models
        if kind in get_args(getattr(m.model_fields.get("kind"), "annotation", None))
    ]
    return [key for model in (tagged or models) for key in model.model_fields]


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


def _show(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _absolute(blueprint: Blueprint, folder: Path) -> Blueprint:
    engine = blueprint.task.engine
    if engine.kind == "torch" and engine.model.startswith(("./", "../", "/", "~")):
        engine = engine.model_copy(update={"model": absolute_uri(engine.model, folder)})
    return blueprint.model_copy(
        update={
            "task": blueprint.task.model_copy(update={"engine": engine}),
            "input": blueprint.input.model_copy(
                update={"uri": _folder_marked(absolute_uri(blueprint.input.uri, folder))}
            ),
            "output": blueprint.output.model_copy(
                update={"uri": absolute_uri(blueprint.output.uri, folder)}
            ),
        }
    )


def _folder_marked(uri: str) -> str:
    """A local folder ends in `/`, however it was written, so that it has one meaning."""
    is_folder = "://" not in uri and not uri.endswith("/") and Path(uri).is_dir()
    return f"{uri}/" if is_folder else uri
