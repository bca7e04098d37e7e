"""The picture of an app, drawn from its synthesized stacks: `python -m infra.diagram`."""

import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from gristmill.contract.load import load_blueprint, load_platform
from infra.main import synthesize
from infra.team import resolve

PLATFORM = Path("platform.example.yaml")
BLUEPRINT = "blueprints/embed-corpus"
PICTURE = Path("docs/explanation/architecture.svg")
WIDTH, LINE, HEAD, GAP, MARGIN = 330, 19, 34, 70, 30
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2733}.t{font-weight:600;font-size:14px}"
    ".n{fill:#5b6b7c}rect{fill:#f7f9fb;stroke:#8fa3b7;rx:8}path{stroke:#5b6b7c;fill:none;"
    "marker-end:url(#a)}"
)


@dataclass(frozen=True, slots=True)
class Box:
    """A stack: its parts, and the stacks that it reads from."""

    name: str
    parts: tuple[tuple[str, str], ...]
    needs: tuple[str, ...]

    @property
    def height(self) -> int:
        return HEAD + LINE * len(self.parts) + 12


def main() -> None:
    PICTURE.write_text(picture())
    print(f"wrote {PICTURE}", file=sys.stderr)  # noqa: T201 - a command


def picture() -> str:
    """Of the shipped blueprint that has every stack."""
    platform = load_platform(PLATFORM)
    blueprint = load_blueprint(Path(BLUEPRINT))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        synthesize(platform, resolve(platform, [(BLUEPRINT, blueprint)]), out)
        return drawn(_boxes(out))


def drawn(boxes: list[Box]) -> str:
    """Columns of stacks, what is needed to the left of what needs it."""
    columns = _columns(boxes)
    places: dict[str, tuple[int, int]] = {}
    shapes: list[str] = []
    for index, column in enumerate(columns):
        x, y = MARGIN + index * (WIDTH + GAP), MARGIN
        for box in column:
            places[box.name] = (x, y)
            shapes += _box(box, x, y)
            y += box.height + MARGIN
    arrows = [_arrow(places[need], places[box.name]) for box in boxes for need in box.needs]
    width = MARGIN + len(columns) * (WIDTH + GAP)
    height = max(y + box.height for box in boxes for _, y in [places[box.name]]) + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Stacks and what is in them">'
    )
    marker = (
        '<marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 10 5 0 10z" style="fill:#5b6b7c;stroke:none"/></marker>'
    )
    lines = [head, f"<style>{STYLE}</style>", f"<defs>{marker}</defs>", *arrows, *shapes, "</svg>"]
    return "\n".join(lines) + "\n"


def _boxes(out: Path) -> list[Box]:
    stacks = json.loads((out / "manifest.json").read_text())["stacks"]
    return [
        Box(
            name,
            _parts(json.loads((out / "stacks" / name / "cdk.tf.json").read_text())),
            tuple(stack["dependencies"]),
        )
        for name, stack in sorted(stacks.items())
    ]


def _parts(tree: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """First step of each construct's path -> what it is mostly made of."""
    kinds: dict[str, Counter[str]] = {}
    for kind, resources in tree.get("resource", {}).items():
        for resource in resources.values():
            part = resource["//"]["metadata"]["path"].split("/")[1]
            kinds.setdefault(part, Counter())[kind.removeprefix("aws_").replace("_", " ")] += 1
    grouped: Counter[str] = Counter()
    lines: list[tuple[str, str]] = []
    for part, counts in sorted(kinds.items()):
        prefix = part.partition("-")[0]
        if prefix in ("alarm", "signal"):
            grouped[prefix] += 1
            continue
        total = sum(counts.values())
        first = counts.most_common(1)[0][0]
        lines.append((part, first if total == 1 else f"{total} resources"))
    lines += [(f"{prefix}s", f"{count} of them") for prefix, count in sorted(grouped.items())]
    return tuple(lines)


def _columns(boxes: list[Box]) -> list[list[Box]]:
    columns: list[list[Box]] = []
    placed: set[str] = set()
    while len(placed) < len(boxes):
        ready = [b for b in boxes if b.name not in placed and placed.issuperset(b.needs)]
        columns.append(ready)
        placed |= {box.name for box in ready}
    return columns


def _box(box: Box, x: int, y: int) -> list[str]:
    shapes = [
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{box.height}"/>',
        f'<text class="t" x="{x + 14}" y="{y + 22}">{escape(box.name)}</text>',
    ]
    for index, (part, what) in enumerate(box.parts):
        at = y + HEAD + LINE * index + 12
        shapes.append(f'<text x="{x + 14}" y="{at}">{escape(part)}</text>')
        shapes.append(
            f'<text class="n" x="{x + WIDTH - 14}" y="{at}" text-anchor="end">{escape(what)}</text>'
        )
    return shapes


def _arrow(source: tuple[int, int], target: tuple[int, int]) -> str:
    x1, y1, x2, y2 = source[0] + WIDTH, source[1] + 18, target[0], target[1] + 18
    middle = (x1 + x2) // 2
    return f'<path d="M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}"/>'


if __name__ == "__main__":
    main()
