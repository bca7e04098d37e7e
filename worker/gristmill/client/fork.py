"""Shipped blueprints, and a copy of one to be edited."""

import difflib
import shutil
from pathlib import Path

import gristmill
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
    """Copy a shipped blueprint to a new folder. Raises UsageError; never writes over a file."""
    known = shipped()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"--from {name}: no such blueprint; {hint}there are {', '.join(known)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is there and not empty; name a new folder")
    try:
        shutil.copytree(
            known[name], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("out")
        )
    except OSError as error:
        raise UsageError(f"{folder}: can't be written ({error.strerror})") from None
