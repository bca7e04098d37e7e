"""What must have happened for a scan to mean anything: a gate that read nothing passes nothing."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from policies.describe import Described
from policies.finding import CannotJudgeError
from policies.reading.stack import STACK_FILE, App
from policies.scan import Record

MANIFEST: Final = "manifest.json"


def synthesized(folder: Path) -> App:
    """The stacks that the manifest of `folder` lists, each of them there and readable.

    Raises CannotJudgeError.
    """
    listed = sorted(_manifest(folder / MANIFEST))
    if not listed:
        raise CannotJudgeError(f"{folder}: holds no stack; synthesize first")
    stacks = folder / "stacks"
    found = sorted(path.parent.name for path in stacks.glob(f"*/{STACK_FILE}"))
    if found != listed:
        raise CannotJudgeError(
            f"{folder}: {MANIFEST} lists {', '.join(listed)}, but there is {', '.join(found)}; "
            "synthesize anew"
        )
    try:
        return App.load(stacks)
    except (OSError, ValueError) as error:
        raise CannotJudgeError(f"{stacks}: a stack can't be read ({error})") from None


def _manifest(file: Path) -> dict[str, Any]:
    try:
        stacks = json.loads(file.read_text())["stacks"]
    except FileNotFoundError:
        raise CannotJudgeError(f"{file}: is not there; synthesize first") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotJudgeError(f"{file}: can't be read ({error}); synthesize anew") from None
    if not isinstance(stacks, dict):
        raise CannotJudgeError(f"{file}: lists no stacks; synthesize anew")
    return stacks


def judged(app: App, records: Iterable[Record], checks: Sequence[Described]) -> None:
    """Every stack was looked at, and each of our checks wherever a resource of its types is.

    Raises CannotJudgeError with what was left out.
    """
    seen: dict[str, set[tuple[str, str]]] = {name: set() for name in app.stacks}
    for record in records:
        seen[record.stack].add((record.check, record.path))
    silent = [name for name, said in seen.items() if not said]
    if silent:
        raise CannotJudgeError(f"no check ran over {', '.join(silent)}")
    missed = [
        f"{check.id} over {resource.path}"
        for check in checks
        for type_ in check.resources
        for resource in app.resources(type_)
        if (check.id, resource.path) not in seen[resource.stack.name]
    ]
    if missed:
        more = f" and {len(missed) - 5} more" if len(missed) > 5 else ""
        raise CannotJudgeError(f"checks did not run: {', '.join(missed[:5])}{more}")
