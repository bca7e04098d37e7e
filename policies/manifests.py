"""Kubernetes manifests beside a blueprint, as a stack: checks judge Terraform and YAML alike."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from policies.finding import CannotJudgeError, Place

FOLDER: Final = "kubernetes"
"""Beside blueprint.yaml: its *.yaml and *.yml, with one or more objects each."""


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
        name = f"{file.stem}_{len(named)}"
        path = f"{stack}/{file.name}/{_called(manifest)}"
        named[name] = {"//": {"metadata": {"path": path}}, "manifest": manifest}
        origins[path] = (Place(str(file), line),)
    if not named:
        return None
    return Manifests({"resource": {"kubernetes_manifest": named}}, origins)


def _objects(folder: Path) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    for file in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        try:
            text = file.read_text(encoding="utf-8")
            nodes: list[yaml.Node | None] = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
            found = list(yaml.safe_load_all(text))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise CannotJudgeError(f"{file}: can't be read ({error})") from None
        for node, manifest in zip(nodes, found, strict=False):
            if node is None or manifest is None:
                continue
            if not isinstance(manifest, dict) or "kind" not in manifest:
                raise CannotJudgeError(
                    f"{file}:{node.start_mark.line + 1}: is no Kubernetes object: it has no kind"
                )
            yield file, node.start_mark.line + 1, manifest


def _called(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{manifest['kind']}.{name or 'unnamed'}"
