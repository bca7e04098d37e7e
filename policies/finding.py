"""Finding: what is wrong, where, why it matters and how to mend it."""

from dataclasses import dataclass
from typing import Self


class CannotJudgeError(Exception):
    """The gate can't tell whether all is well. Its text says why and what to do: exit code 2."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, counted from 1. `file` is relative to the project where it's inside."""

    file: str
    line: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """`infra/team.py:7`."""
        file, _, line = text.rpartition(":")
        return cls(file, int(line))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check against one thing."""

    check: str
    title: str
    where: str
    """Path in the construct tree, or the blueprint's file. Waivers name it."""
    places: tuple[Place, ...]
    """Where to mend it first: lines of infra/ and of the blueprint; last, the synthesized file."""
    reasons: tuple[str, ...] = ()
    risk: str = ""
    remedy: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Reports are XML and a terminal's: a team's words might hold what neither takes."""
        for name in ("title", "where", "risk", "remedy"):
            object.__setattr__(self, name, _printable(getattr(self, name)))
        object.__setattr__(self, "reasons", tuple(_printable(reason) for reason in self.reasons))

    @property
    def subject(self) -> tuple[str, str]:
        """What a waiver excuses."""
        return self.check, self.where


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
