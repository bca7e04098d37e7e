"""A check: what must hold for each resource of some types, why, and how to mend it."""

import importlib.util
import inspect
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal

from policies.reading.stack import CannotTellError, Resource

SHARED: Final = Path(__file__).parent / "checks"
PREFIX: Final = "GRIST_"
"""Of the shared checks. A team's own start with TEAM_."""
TEAM_PREFIX: Final = "TEAM_"
Answer = Literal["pass", "fail", "cannot tell"]


class Check(ABC):
    """One file, one subclass, without state. Its id is its file's name: see `check_id`."""

    title: ClassVar[str]
    """What must hold, as one short sentence without a full stop."""
    risk: ClassVar[str]
    """What happens otherwise, in one sentence."""
    remedy: ClassVar[str]
    """What to write, and where."""
    source: ClassVar[str]
    """Address of the document that this rests on."""
    resources: ClassVar[tuple[str, ...]]
    """Types of the resources that are judged."""
    chosen_by: ClassVar[str] = ""
    """Key of the blueprint that decides on this, such as `capacity.spot`; empty: no key does."""

    @abstractmethod
    def faults(self, resource: Resource) -> Iterator[str]:
        """Each thing that is wrong, in words that name the value; none when all is right.

        Raises CannotTellError where what is to be judged can't be seen.
        """


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says of a resource. `reasons` is empty when it passes."""

    answer: Answer
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedCheck:
    """A check and where it came from."""

    id: str
    check: Check
    file: Path

    def verdict(self, resource: Resource) -> Verdict:
        """Never raises: a check that breaks can't tell."""
        try:
            reasons = tuple(self.check.faults(resource))
        except CannotTellError as unseen:
            return Verdict("cannot tell", (str(unseen),))
        except Exception as error:  # noqa: BLE001 - a team's own code
            return Verdict("cannot tell", (f"the check broke: {type(error).__name__}: {error}",))
        if not all(isinstance(reason, str) for reason in reasons):
            return Verdict("cannot tell", ("the check yields something that is no text",))
        return Verdict("fail" if reasons else "pass", reasons)


class BrokenCheckError(Exception):
    """A file of checks that can't be used. Its text says which and why."""


def check_id(file: Path, prefix: str = PREFIX) -> str:
    """checks/batch_scale_to_zero.py -> GRIST_BATCH_SCALE_TO_ZERO."""
    return prefix + file.stem.upper()


def load_checks(folder: Path, prefix: str = PREFIX) -> tuple[LoadedCheck, ...]:
    """All checks of a folder, by id. Raises BrokenCheckError."""
    files = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    for file in files:
        if not _NAME.fullmatch(file.stem):
            raise BrokenCheckError(f"{file}: must be called like a_check.py: a-z, 0-9 and _")
    return tuple(LoadedCheck(check_id(file, prefix), _only_check(file), file) for file in files)


def _only_check(file: Path) -> Check:
    name = f"policies_of_{file.parent.name}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BrokenCheckError(f"{file}: can't be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BrokenCheckError(f"{file}: {type(error).__name__}: {error}") from error
    return _instance(file, [c for c in vars(module).values() if _defined_in(c, name)])


def _defined_in(candidate: object, module: str) -> bool:
    return (
        inspect.isclass(candidate)
        and issubclass(candidate, Check)
        and candidate.__module__ == module
    )


def _instance(file: Path, found: list[type[Check]]) -> Check:
    if len(found) != 1:
        raise BrokenCheckError(
            f"{file}: holds {len(found)} checks, must hold one subclass of Check"
        )
    kind = found[0]
    missing = [name for name in _DEMANDED if not _is_text(getattr(kind, name, None))]
    if missing:
        raise BrokenCheckError(f"{file}: {kind.__name__} lacks a text as {', '.join(missing)}")
    types = getattr(kind, "resources", None)
    if not isinstance(types, tuple) or not types or not all(_is_text(t) for t in types):
        raise BrokenCheckError(f'{file}: resources must be a tuple of types, as ("aws_sqs_queue",)')
    if inspect.isabstract(kind):
        raise BrokenCheckError(f"{file}: {kind.__name__} has no faults()")
    return kind()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_DEMANDED: Final = ("title", "risk", "remedy", "source")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
