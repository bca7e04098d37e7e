"""Builds a corpus of real texts: the docstrings of this Python's standard library.

    python scripts/corpus.py OUT.jsonl

One JSON object a line: id (dotted name), title (kind and signature), text. The same Python gives
the same bytes.
"""

import ast
import json
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SKIPPED: Final = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}
"""Folders that hold no library code."""

Named = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Text:
    """One docstring."""

    id: str
    title: str
    text: str

    def line(self) -> str:
        return json.dumps({"id": self.id, "title": self.title, "text": self.text}) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python scripts/corpus.py OUT.jsonl", file=sys.stderr)
        return 64
    texts = standard_library()
    target = Path(arguments[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(text.line() for text in texts), encoding="utf-8")
    print(f"{len(texts):,} texts in {target}")
    return 0


def standard_library() -> list[Text]:
    """Every docstring once, in order of module and line."""
    return list(_unique(_all(Path(sysconfig.get_path("stdlib")))))


def _all(root: Path) -> Iterator[Text]:
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).parts):
        if SKIPPED.isdisjoint(path.relative_to(root).parts):
            yield from _of_file(path, _module(path.relative_to(root)))


def _of_file(path: Path, module: str) -> Iterator[Text]:
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:  # kept in the library on purpose, as lib2to3's samples are
        return
    yield from _of_node(tree, module)


def _of_node(node: Named, name: str) -> Iterator[Text]:
    text = ast.get_docstring(node)
    if text and text.strip():
        yield Text(name, _title(node, name), text)
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_node(child, f"{name}.{child.name}")


def _unique(texts: Iterator[Text]) -> Iterator[Text]:
    """The first of equal texts; a name met again (overloads, branches) gets a number."""
    seen: set[str] = set()
    names: dict[str, int] = {}
    for text in texts:
        if text.text in seen:
            continue
        seen.add(text.text)
        names[text.id] = met = names.get(text.id, 0) + 1
        yield text if met == 1 else Text(f"{text.id}#{met}", text.title, text.text)


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _title(node: Named, name: str) -> str:
    if isinstance(node, ast.Module):
        return f"module {name}"
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    return f"{node.name}({ast.unparse(node.args)})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
