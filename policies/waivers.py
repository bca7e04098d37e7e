"""Waivers: what is excused, where, by whom, why, and until when."""

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from policies.finding import Finding, Place
from policies.lines import item_lines
from policies.load import load

LONGEST: Final = datetime.timedelta(days=180)
SHORTEST: Final = 3
"""Letters that the first and the last name of a path have beside any `*`."""
_NAME: Final = re.compile(r"[A-Za-z0-9_.*-]+")
_EXACT: Final = re.compile(r"[A-Z0-9][A-Z0-9_]+")


def _check_id(value: str) -> str:
    if not _EXACT.fullmatch(value):
        raise ValueError("must be the id of one check, without *")
    return value


def _construct_path(value: str) -> str:
    """`*` stands for a part of one name, never for a whole stack or resource."""
    names = value.split("/")
    if not all(_NAME.fullmatch(name) for name in names) or any(
        len(name.replace("*", "").strip("-.")) < SHORTEST for name in (names[0], names[-1])
    ):
        raise ValueError(
            "must name the stack and the resource, as in *-data/*/bucket: a waiver excuses one "
            "thing, in the stacks of each blueprint"
        )
    if names[0] == "blueprints" and "*" in value:
        raise ValueError("must name one blueprint.yaml, without *")
    return value


class Waiver(BaseModel):
    """Excuses findings of one check at one place of the construct tree."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: Annotated[str, AfterValidator(_check_id)] = Field(description="Id of one check.")
    path: Annotated[str, AfterValidator(_construct_path)] = Field(
        description="Place in the construct tree, as the finding's `where`: `*-data/*/bucket`."
    )
    owner: str = Field(min_length=1, description="Who answers for it.")
    reason: str = Field(min_length=20, description="Why it may stand.")
    expires: datetime.date = Field(strict=True, description="The last day, `2027-05-31`.")
    stack: Literal["required", "optional"] = Field(
        "required",
        description="`optional`: not every platform has this stack, and without it the waiver may "
        "excuse nothing.",
    )

    def excuses(self, finding: Finding) -> bool:
        wanted, came = self.path.split("/"), finding.where.split("/")
        return (
            finding.check == self.check
            and len(wanted) == len(came)
            and all(_fits(w, c) for w, c in zip(wanted, came, strict=True))
        )


class WaiversFile(BaseModel):
    """All waivers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    waivers: tuple[Waiver, ...]


@dataclass(frozen=True, slots=True)
class Waivers:
    """All waivers and where they stand."""

    file: str
    waivers: tuple[Waiver, ...]
    lines: tuple[int, ...]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises CannotJudgeError with one line per fault."""
        read, text = load(path, WaiversFile)
        return cls(str(path), read.waivers, item_lines(text, str(path), "waivers"))

    def apply(
        self, findings: Sequence[Finding], stacks: Iterable[str], today: datetime.date
    ) -> tuple[list[Finding], list[Finding]]:
        """(what still stands, what is excused). A waiver that is over, runs too long or excuses
        nothing is a finding of its own. `stacks`: those that were judged."""
        judged = tuple(stacks)
        valid = [w for w in self.waivers if today <= w.expires <= today + LONGEST]
        excused = [f for f in findings if any(w.excuses(f) for w in valid)]
        standing = [f for f in findings if f not in excused]
        for waiver, line in zip(self.waivers, self.lines, strict=True):
            if fault := _fault(waiver, findings, judged, today):
                standing.append(self._finding(waiver, line, *fault))
        return standing, excused

    def _finding(self, waiver: Waiver, line: int, check: str, reason: str) -> Finding:
        return Finding(
            check=check,
            title="A waiver excuses one known thing for a while",
            where=f"{Path(self.file).name}/{waiver.check}/{waiver.path}",
            places=(Place(self.file, line),),
            reasons=(reason,),
            risk="A waiver that nobody looks at again hides the next fault.",
            remedy=f"Mend the finding and remove the waiver, or have {waiver.owner} renew it.",
        )


def _fits(wanted: str, name: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
    return re.fullmatch(pattern, name) is not None


def _fault(
    waiver: Waiver, findings: Sequence[Finding], stacks: Sequence[str], today: datetime.date
) -> tuple[str, str] | None:
    if waiver.expires < today:
        return "WAIVER_EXPIRED", f"it ended on {waiver.expires}"
    if waiver.expires > today + LONGEST:
        return "WAIVER_TOO_LONG", f"it ends on {waiver.expires}, more than {LONGEST.days} days on"
    there = any(_fits(waiver.path.split("/")[0], stack) for stack in stacks)
    if waiver.stack == "optional" and not there:
        return None
    if not any(waiver.excuses(finding) for finding in findings):
        return "WAIVER_UNUSED", f"no finding of {waiver.check} at {waiver.path}"
    return None
