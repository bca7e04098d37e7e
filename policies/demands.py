"""What must have happened for a scan to mean anything: a gate that read nothing passes nothing."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from policies.describe import Described
from policies.finding import CannotJudgeError
from policies.reading.stack import STACK_FILE, App
from policies.reading.strict_json import loads
from policies.scan import Record
from policies.shape import account_faults, misshapen

MANIFEST: Final = "manifest.json"
SHARED: Final = ("foundation", "pipeline")
"""Stacks of a platform, by the ends of their names; the first is always there."""
PARTS: Final = ("data", "compute", "access", "observability")
"""Stacks that each blueprint has."""
OPTIONAL_PARTS: Final = ("schedule",)


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
        app = App.load(stacks)
    except (OSError, ValueError) as error:
        raise CannotJudgeError(f"{stacks}: a stack can't be read ({error})") from None
    _refuse(misshapen(stacks, app))
    return app


def belonging(app: App, platform: str, blueprints: Sequence[str], account: str) -> None:
    """Each blueprint has its stacks, and each stack is a blueprint's or the platform's.

    Raises CannotJudgeError.
    """
    shared = {f"{platform}-{part}" for part in SHARED}
    own = {f"{name}-{part}": name for name in blueprints for part in (*PARTS, *OPTIONAL_PARTS)}
    wanted = {f"{name}-{part}" for name in blueprints for part in PARTS}
    absent = sorted((wanted | {f"{platform}-foundation"}) - app.stacks.keys())
    strange = sorted(app.stacks.keys() - own.keys() - shared)
    if absent:
        raise CannotJudgeError(f"there is no stack {', '.join(absent)}; synthesize anew")
    if strange:
        raise CannotJudgeError(
            f"stack {', '.join(strange)} is of no blueprint that is judged; name all blueprints "
            "in BLUEPRINTS, or synthesize anew"
        )
    _refuse(account_faults(app, account))


def _refuse(faults: Iterable[str]) -> None:
    if told := list(faults):
        raise CannotJudgeError("\n".join(told))


def _manifest(file: Path) -> dict[str, Any]:
    try:
        stacks = loads(file.read_text())["stacks"]
    except FileNotFoundError:
        raise CannotJudgeError(f"{file}: is not there; synthesize first") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotJudgeError(f"{file}: can't be read ({error}); synthesize anew") from None
    if not isinstance(stacks, dict):
        raise CannotJudgeError(f"{file}: lists no stacks; synthesize anew")
    return stacks


def judged(
    app: App, records: Iterable[Record], checks: Sequence[Described], *, every_stack: bool = True
) -> None:
    """Every stack was looked at, and each of our checks wherever a resource of its types is.

    Raises CannotJudgeError with what was left out.
    """
    seen: dict[str, set[tuple[str, str]]] = {name: set() for name in app.stacks}
    for record in records:
        seen[record.stack].add((record.check, record.path))
    silent = [name for name, said in seen.items() if not said]
    if silent and every_stack:
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
        raise CannotJudgeError(
            f"checks did not run: {', '.join(missed[:5])}{more}; checkov left the resource out (it "
            "has count 0, a dynamic block, or a form that it can't read), or the check broke"
        )
