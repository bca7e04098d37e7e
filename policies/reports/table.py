"""What a person reads."""

import textwrap
from collections.abc import Sequence
from typing import Final

from policies.finding import Finding
from policies.judge import Judgement

WIDTH: Final = 100


def table(judgement: Judgement, standing: Sequence[Finding], excused: Sequence[Finding]) -> str:
    """Each finding with what, where, why and how to mend; then a line for each stack; then all."""
    parts = [_finding(finding) for finding in sorted(standing, key=lambda f: (f.where, f.check))]
    return "\n".join([*parts, _stacks(judgement, standing, excused), ""])


def _finding(finding: Finding) -> str:
    rows = [
        ("where", finding.where),
        ("from", ", ".join(str(place) for place in finding.places)),
        *(("found", reason) for reason in finding.reasons),
        ("why", finding.risk),
        ("mend", finding.remedy),
        ("read", finding.source),
    ]
    told = "\n".join(_row(name, text) for name, text in rows if text)
    return f"{finding.check}: {finding.title}\n{told}\n"


def _row(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"  {name:<6}",
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _stacks(judgement: Judgement, standing: Sequence[Finding], excused: Sequence[Finding]) -> str:
    stacks = sorted({record.stack for record in judgement.records})
    width = max(map(len, stacks), default=0)
    lines = [f"{'stack':<{width}}  checks  findings  excused"]
    for stack in stacks:
        ran = sum(record.stack == stack for record in judgement.records)
        lines.append(
            f"{stack:<{width}}  {ran:6,}  {_within(stack, standing):8}  {_within(stack, excused):7}"
        )
    lines.append(
        f"{len(judgement.records):,} answers of checks over {len(stacks)} stacks, "
        f"{judgement.ours} checks of ours, {judgement.documents} policy documents: "
        f"{_count(len(standing), 'finding')}, {len(excused)} excused"
    )
    return "\n".join(lines)


def _within(stack: str, findings: Sequence[Finding]) -> int:
    return sum(finding.where.split("/")[0] == stack for finding in findings)


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
