"""Where a model lies, and the digest that names its very files. Imports no engine library."""

import hashlib
import re
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gristmill.contract.canonical import digest
from gristmill.contract.errors import ConfigError
from gristmill.contract.task import Task, TorchEngine

_HUB_ID: Final = re.compile(r"[\w.-]+(/[\w.-]+)?")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_HEADS: Final = ("modules.json", "config.json")
_FIELD: Final = "task.engine.model"


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model on the hub, pinned."""

    id: str
    commit: str


def model_revision(task: Task) -> str:
    """Names the files of the task's model: their digest, or the hub's commit.

    Reads every file of a local model. Raises ConfigError when there is no such model.
    """
    if not isinstance(task.engine, TorchEngine):
        return task.engine.kind
    model = find_model(task.engine)
    return model.commit if isinstance(model, HubModel) else _digest(model)


def find_model(engine: TorchEngine) -> Path | HubModel:
    """The model's folder, or its place on the hub.

    Raises ConfigError naming what is missing and what to do.
    """
    reference = engine.model
    if reference.startswith("package:"):
        return _checked(_in_package(reference), reference)
    if reference.startswith((".", "/", "~")):
        return _checked(Path(reference).expanduser(), reference)
    return _on_hub(reference, engine.revision)


def _in_package(reference: str) -> Path:
    package, _, inner = reference.removeprefix("package:").partition("/")
    top, *nested = package.split(".")
    # Only the top package is looked up: finding a nested one would import its parents.
    spec = find_spec(top) if top.isidentifier() else None
    if spec is None:
        raise ConfigError(
            f"{_FIELD}: got {reference}, but there is no Python package {top!r} here; "
            f"install it, or name a folder (./model)"
        )
    folders = [folder.joinpath(*nested, inner) for folder in _folders(spec)]
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise ConfigError(
            f"{_FIELD}: got {reference}, but the package {top!r} has no folder "
            f"{'/'.join([*nested, inner])!r}; write package:<package>/<folder>"
        )
    return found


def _folders(spec: ModuleSpec) -> list[Path]:
    return [Path(place) for place in spec.submodule_search_locations or ()]


def _checked(folder: Path, reference: str) -> Path:
    if not folder.is_dir():
        raise ConfigError(
            f"{_FIELD}: got {reference}, but there is no folder {folder}; "
            "name the folder that the model was saved in"
        )
    if not any((folder / head).is_file() for head in _HEADS):
        raise ConfigError(
            f"{_FIELD}: got {reference}, but {folder} has neither {' nor '.join(_HEADS)}; "
            "name the folder that the model was saved in"
        )
    return folder


def _on_hub(reference: str, revision: str | None) -> HubModel:
    if _HUB_ID.fullmatch(reference) is None:
        raise ConfigError(
            f"{_FIELD}: got {reference}, must be a folder (./model), package:<package>/<folder> "
            "or a hub id (owner/name)"
        )
    if revision is None or _COMMIT.fullmatch(revision) is None:
        hint = f"; for the folder write ./{reference}" if Path(reference).is_dir() else ""
        raise ConfigError(
            f"task.engine.revision: got {revision or 'nothing'}, must be a commit of {reference} "
            f"on the hub (40 hex digits): branches and tags move, and a run must not{hint}"
        )
    return HubModel(reference, revision)


def _digest(folder: Path) -> str:
    """SHA-256 over the names and contents of all files, in order of their names."""
    files = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return digest([[name, _sha256(files[name])] for name in sorted(files)])


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(
            f"{_FIELD}: {path} can't be read ({error.strerror}); make every file of the model "
            "readable for this user"
        ) from None
