"""Kubernetes manifests beside a blueprint, as a stack: checks judge Terraform and YAML alike."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from policies.finding import CannotJudgeError, Place

FOLDER: Final = "kubernetes"
"""Beside blueprint.yaml, with what lies below: files of one or more objects each."""
SUFFIXES: Final = (".yaml", ".yml", ".json")
IGNORED: Final = ("README.md",)


@dataclass(frozen=True, slots=True)
class Manifests:
    """A stack made of manifests, and where each of them stands."""

    tree: Mapping[str, Any]
    origins: dict[str, tuple[Place, ...]]


def manifests(blueprint: Path, stack: str) -> Manifests | None:
    """Those beside a blueprint.yaml; None where there is none. Raises CannotJudgeError."""
    named: dict[str, Any] = {}
    origins: dict[str, tuple[Place, ...]] = {}
    for file, line, manifest in _objects(blueprint.parent / FOLDER):
        number = len(named)
        path = f"{stack}/{file.name}/{number}-{manifest['kind']}.{_called(manifest)}"
        conf = {"//": {"metadata": {"path": path}}, "manifest": manifest}
        named[f"object_{number}"] = conf
        origins[path] = (Place(str(file), line),)
    if not named:
        return None
    return Manifests({"resource": {"kubernetes_manifest": named}}, origins)


def _objects(folder: Path) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """Every object of every file, those of a List too."""
    for file in sorted(path for path in folder.rglob("*") if not path.is_dir()):
        if file.name in IGNORED:
            continue
        if file.suffix not in SUFFIXES:
            raise CannotJudgeError(
                f"{file}: is neither {', '.join(SUFFIXES)} nor {', '.join(IGNORED)}; a template "
                "is judged by what it renders to: put that there"
            )
        for line, document in _documents(file):
            for manifest in _unfolded(document, f"{file}:{line}"):
                yield file, line, manifest


def _documents(file: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
        nodes: list[yaml.Node | None] = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
        # Dates stay texts, as Kubernetes reads them; JSON is what becomes of it all.
        found = [json.loads(json.dumps(tree)) for tree in yaml.load_all(text, _Texts)]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, ValueError) as error:
        raise CannotJudgeError(f"{file}: can't be read ({error})") from None
    for node, tree in zip(nodes, found, strict=True):
        if node is not None and tree is not None:
            yield node.start_mark.line + 1, tree


def _unfolded(manifest: Any, place: str) -> Iterator[dict[str, Any]]:
    if not isinstance(manifest, dict) or not all(
        isinstance(manifest.get(key), str) and manifest[key] for key in ("apiVersion", "kind")
    ):
        raise CannotJudgeError(f"{place}: is no Kubernetes object: it has no apiVersion and kind")
    if not manifest["kind"].endswith("List"):
        yield manifest
        return
    items = manifest.get("items")
    for item in items if isinstance(items, list) else [items]:
        yield from _unfolded(item, place)


def _called(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    given = metadata if isinstance(metadata, Mapping) else {}
    return str(given.get("name") or given.get("generateName") or "unnamed")


class _Texts(yaml.SafeLoader):
    """Timestamps as texts."""


_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
