"""An input URI -> where to list, and which of the listed keys are meant."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

_GLOB: Final = re.compile(r"[*?\[]")
_SPAN: Final = re.compile(r"(.)-(.)|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Location:
    """A root to list, and a rule for the keys below it."""

    root: str
    """Folder or prefix that keys are relative to."""
    prefix: str
    """Only keys that start with this can match; empty or ending in `/`, or one whole key."""
    pattern: str | None
    """Glob over the key; None: the key `prefix`, or everything below it."""

    @property
    def names_one(self) -> bool:
        """Whether the URI may name a single object."""
        return bool(self.prefix) and not self.prefix.endswith("/") and self.pattern is None

    def matches(self, key: str) -> bool:
        if self.pattern is not None:
            return key == self.pattern or _glob(self.pattern).fullmatch(key) is not None
        below = self.prefix if self.prefix.endswith("/") or not self.prefix else f"{self.prefix}/"
        return key == self.prefix or key.startswith(below)


def locate(uri: str) -> Location:
    """`dir/` -> all below; `dir/*.jsonl` -> a glob (`**` crosses folders); `dir/x` -> the object x,
    or all below the prefix `x/`. A name that holds a glob character also means itself."""
    scheme, mark, path = uri.partition("://")
    if not mark:
        scheme, path = "", uri
    wild = _GLOB.search(path)
    if wild is None and path.endswith("/"):
        return Location(_join(scheme, path), "", None)
    cut = path.rfind("/", 0, wild.start() if wild else len(path)) + 1
    if mark and cut == 0:  # a bare bucket
        return Location(_join(scheme, path), "", None)
    root, rest = path[:cut], path[cut:]
    return Location(_join(scheme, root), "" if wild else rest, rest if wild else None)


def _join(scheme: str, path: str) -> str:
    root = path.rstrip("/") or ("" if scheme else "/")
    return f"{scheme}://{root}" if scheme else root


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    out, i = "", 0
    while i < len(pattern):
        if pattern.startswith("**/", i):
            out, i = out + "(?:.*/)?", i + 3
        elif pattern.startswith("**", i):
            out, i = out + ".*", i + 2
        elif pattern[i] == "*":
            out, i = out + "[^/]*", i + 1
        elif pattern[i] == "?":
            out, i = out + "[^/]", i + 1
        elif pattern[i] == "[" and (end := pattern.find("]", i + 2)) > 0:
            out, i = out + _one_of(pattern[i + 1 : end]), end + 1
        else:
            out, i = out + re.escape(pattern[i]), i + 1
    return re.compile(out, re.DOTALL)


def _one_of(inner: str) -> str:
    """`a-c_` or `!a-c_`, from between brackets -> an expression for one character, never `/`."""
    negated = len(inner) > 1 and inner[0] in "!^"
    spans = [
        f"{re.escape(low)}-{re.escape(high)}" if low else re.escape(one)
        for low, high, one in _SPAN.findall(inner[1:] if negated else inner)
        if low <= high  # a range that runs backwards holds nothing
    ]
    if not spans:
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(spans)}]"
