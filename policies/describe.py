"""What a folder's checks are, told by a process of their own: a team's code never runs in the gate.

python -m policies.describe FOLDER PREFIX
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from policies.check import BrokenCheckError, LoadedCheck, load_checks
from policies.finding import CannotJudgeError

TIMEOUT: Final = 60


@dataclass(frozen=True, slots=True)
class Described:
    """A check, without its code."""

    id: str
    title: str
    risk: str
    remedy: str
    source: str
    resources: tuple[str, ...]
    chosen_by: str


def described(folder: Path, prefix: str) -> tuple[Described, ...]:
    """Raises CannotJudgeError where a check can't be loaded, or there is none."""
    command = [sys.executable, "-m", "policies.describe", str(folder.resolve()), prefix]
    root = Path(__file__).resolve().parents[1]
    try:
        ended = subprocess.run(
            command,
            cwd=root,
            env={"PATH": os.environ.get("PATH", "")},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotJudgeError(f"{folder}: its checks aren't loaded after {TIMEOUT} s") from None
    if ended.returncode != 0:
        raise CannotJudgeError(ended.stderr.strip() or f"{folder}: its checks can't be loaded")
    try:
        found = [
            Described(**{**told, "resources": tuple(told["resources"])})
            for told in json.loads(ended.stdout)
        ]
    except (ValueError, TypeError, KeyError):
        raise CannotJudgeError(
            f"{folder}: its checks end Python or print while they are loaded; a check only yields"
        ) from None
    if not found:
        raise CannotJudgeError(f"{folder}: holds no check")
    return tuple(found)


def main(arguments: list[str]) -> int:
    folder, prefix = arguments
    try:
        checks = load_checks(Path(folder), prefix)
    except BrokenCheckError as broken:
        print(broken, file=sys.stderr)
        return 1
    print(json.dumps([asdict(_described(loaded)) for loaded in checks]))
    return 0


def _described(loaded: LoadedCheck) -> Described:
    check = loaded.check
    return Described(
        id=loaded.id,
        title=check.title,
        risk=check.risk,
        remedy=check.remedy,
        source=check.source,
        resources=tuple(check.resources),
        chosen_by=check.chosen_by,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
