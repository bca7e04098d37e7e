"""Console blocks of a page: what is typed, and what is shown to come back."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FENCE: Final = re.compile(
    r"(?:<!-- (?P<note>[^\n]*?) -->\n)?```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Step:
    command: str
    shown: tuple[str, ...]
    """Lines below the command. `…` stands for anything, alone on a line for any lines."""

    def matches(self, printed: str) -> bool:
        """Whether a command that is shown to print something printed that."""
        return not self.shown or re.fullmatch(self._pattern(), printed, re.DOTALL) is not None

    def _pattern(self) -> str:
        lines = (
            "(?:[^\n]*\n)*?" if line == "…" else re.escape(line).replace("…", "[^\n]*?") + " *\n"
            for line in self.shown
        )
        return "".join(lines)


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """(the comment right above it, its text) of each fenced block."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [(b["note"] or "", b["body"]) for b in found if b["language"] == language]


def steps(page: Path) -> list[Step]:
    """What the page asks to type, in order, without the blocks marked `not run`."""
    found: list[Step] = []
    for note, body in blocks(page, "console"):
        if not note.startswith("not run: "):
            found += _steps(body)
    return found


def _steps(body: str) -> list[Step]:
    found: list[Step] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append(Step(line.removeprefix("$ "), ()))
        else:
            found[-1] = Step(found[-1].command, (*found[-1].shown, line))
    return found


def needs_torch(page: Path) -> bool:
    return any(note == "torch" for note, _ in blocks(page, "console"))
