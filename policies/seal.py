"""Whether files are as they were: a team's code runs as the same user as the gate."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from policies.finding import CannotJudgeError


def seal(places: Iterable[Path]) -> dict[str, str]:
    """Each file below the places, with a digest of its content; bytecode left out."""
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for place in places
        for file in sorted([place] if place.is_file() else place.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }


def unbroken(before: dict[str, str], places: Iterable[Path], during: str) -> None:
    """Raises CannotJudgeError with the first file that was changed, added or removed."""
    after = seal(places)
    changed = sorted(
        file for file in before.keys() | after.keys() if before.get(file) != after.get(file)
    )
    if changed:
        raise CannotJudgeError(f"{changed[0]}: was changed while {during}; nothing is trusted")
