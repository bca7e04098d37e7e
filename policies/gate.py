"""The gate: judges every stack of every blueprint and every blueprint, and says so in three forms.

    python -m policies.gate [--stacks cdktf.out] [--out build/policy]

Exit codes: 0 clean, 1 findings, 2 the gate itself could not judge.
"""

import argparse
import datetime
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from policies.finding import CannotJudgeError
from policies.judge import judge
from policies.reports.junit import junit
from policies.reports.sarif import sarif
from policies.reports.table import table
from policies.rules import load_rules
from policies.synth import Subject, read, synthesize
from policies.waivers import Waivers

CLEAN, FINDINGS, CANNOT_JUDGE = 0, 1, 2
REPORTS: Final = ("report.sarif", "junit.xml", "table.txt")
HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent
ENVIRONMENT: Final = ROOT / ".venv-policy"
"""checkov pins libraries that the worker needs in other versions: `make setup` keeps them apart."""


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    out: Path = chosen.out
    try:
        _clear(out)
        return _gate(chosen, out)
    except CannotJudgeError as error:
        told = str(error)
    except Exception as error:  # noqa: BLE001 - 1 would mean findings
        place = traceback.extract_tb(error.__traceback__)[-1]
        told = (
            f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno}); the "
            "gate has a fault, or a file has a form that it doesn't expect"
        )
    print(f"the gate can't judge: {told}", file=sys.stderr)
    return CANNOT_JUDGE


def _clear(out: Path) -> None:
    """What an earlier run said must not be taken for what this one says."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for report in REPORTS:
            (out / report).unlink(missing_ok=True)
    except OSError as error:
        raise CannotJudgeError(f"{out}: reports can't be written there ({error})") from None


def _gate(chosen: argparse.Namespace, out: Path) -> int:
    # Read before any team's code has run.
    waivers, rules = Waivers.load(chosen.waivers), load_rules(chosen.rules)
    subject = _subject(chosen, out)
    judgement = judge(subject, rules, chosen.environment, _say)
    standing, excused = waivers.apply(judgement.findings, subject.app.stacks, chosen.today)
    text = table(judgement, standing, excused)
    contents = {
        "report.sarif": sarif(standing, excused, ROOT),
        "junit.xml": junit(judgement.records, standing, excused),
        "table.txt": text,
    }
    for report in REPORTS:
        (out / report).write_text(contents[report], encoding="utf-8")
    print(text, end="")
    return FINDINGS if standing else CLEAN


def _subject(chosen: argparse.Namespace, out: Path) -> Subject:
    platform = chosen.platform or _platform()
    named = os.environ.get("BLUEPRINTS")
    if chosen.stacks:
        _say(f"{chosen.stacks}, as it was synthesized for {platform}")
        return read(platform, named, chosen.stacks, out)
    _say(f"synthesize for {platform}")
    return synthesize(platform, named, out)


def _platform() -> Path:
    own = Path("platform.yaml")
    return own if own.exists() else Path("platform.example.yaml")


def _say(text: str) -> None:
    print(f"policy: {text}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("policies.gate", description=__doc__.partition("\n")[0])
    parser.add_argument("--stacks", type=Path, help="judge this cdktf.out; else synthesize one")
    parser.add_argument("--out", type=Path, default=Path("build/policy"), help="where reports go")
    given = os.environ.get("PLATFORM")
    parser.add_argument("--platform", type=Path, default=Path(given) if given else None)
    parser.add_argument("--waivers", type=Path, default=HERE / "waivers.yaml")
    parser.add_argument("--rules", type=Path, default=HERE / "rules.yaml")
    parser.add_argument("--environment", type=Path, default=ENVIRONMENT)
    parser.add_argument(
        "--today",
        type=datetime.date.fromisoformat,
        default=datetime.datetime.now(datetime.UTC).date(),
        help="the day that waivers are judged by",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
