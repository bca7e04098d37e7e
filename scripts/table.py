"""A Markdown table."""

import re
from collections.abc import Iterable
from typing import Final

Row = tuple[str, ...]

_BLANKS: Final = re.compile(r"\s+")


def table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    escaped = (" | ".join(cell.replace("|", r"\|") for cell in line) for line in lines)
    return "".join(f"| {_BLANKS.sub(' ', line)} |\n" for line in escaped)
