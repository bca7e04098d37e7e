"""Shipped blueprints, and a copy of one to be edited."""

import difflib
import re
import shutil
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

import gristmill
from gristmill.contract.blueprint import Slug
from gristmill.contract.errors import UsageError


def shipped() -> dict[str, Path]:
    """Name -> folder. In the installed package, or beside it in a checkout."""
    package = Path(gristmill.__file__).parent
    for place in (package / "blueprints", package.parents[1] / "blueprints"):
        if place.is_dir():
            return {
                path.parent.name: path.parent for path in sorted(place.glob("*/blueprint.yaml"))
            }
    return {}


def fork(name: str, folder: Path) -> None:
    """Copy a shipped blueprint to a new folder, which names the copy.

    Raises UsageError; never writes over a file.
    """
    known = shipped()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"--from {name}: no such blueprint; {hint}there are {', '.join(known)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is there and not empty; name a new folder")
    own = _own_name(folder)
    try:
        shutil.copytree(
            known[name], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("out")
        )
        file = folder / "blueprint.yaml"
        file.write_text(_renamed(file.read_text(encoding="utf-8"), own), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder}: can't be written ({error.strerror})") from None


def _own_name(folder: Path) -> str:
    name = folder.resolve().name
    try:
        return TypeAdapter[str](Slug).validate_python(name)
    except ValidationError:
        raise UsageError(
            f"{folder}: the blueprint is named after its folder, {name!r}, which must be "
            "lower-case letters, digits and hyphens, start with a letter and have at most 48 "
            "characters"
        ) from None


def _renamed(text: str, name: str) -> str:
    """With a name of its own, and placeholders of buckets of its own: nothing is made twice."""
    named = re.sub(r"^name: .*$", f"name: {name}", text, count=1, flags=re.MULTILINE)
    return re.sub(r"\bs3://your-[a-z0-9-]+", f"s3://your-{name}", named)
