"""Runs checkov over stacks, its own checks and ours, and reads what it says of each resource."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from policies.finding import CannotJudgeError
from policies.lines import Span, resource_spans
from policies.reading.stack import CHOICES_FILE, STACK_FILE, App, Resource, Stack

CHECKOV_VERSION: Final = "3.3.30"
"""As in requirements/policy.in: what it prints and which checks it has change with the version."""
ENV_CHECKS: Final = "GRISTMILL_CHECKS"
"""Folder of the checks that the adapter loads."""
ENV_PREFIX: Final = "GRISTMILL_CHECKS_PREFIX"
ENV_APPS: Final = "GRISTMILL_CHECKS_APPS"
"""Folder that checkov gets: in it one folder for each app, with one for each of its stacks."""
FRAMEWORK: Final = "terraform_json"
"""With `terraform` checkov reads no JSON, finds nothing and is content."""
ROOT: Final = Path(__file__).resolve().parents[1]
ADAPTER: Final = Path(__file__).parent / "checkov_checks"
TIMEOUT: Final = 300


@dataclass(frozen=True, slots=True)
class Record:
    """What one check said of one resource, or of a stack where it is about none."""

    check: str
    title: str
    stack: str
    path: str
    """In the construct tree."""
    line: int
    """Of the stack's file."""
    passed: bool
    reasons: tuple[str, ...]
    source: str


def scan(
    checkov: Path, folder: Path, checks: Path, prefix: str, only: Sequence[str] = ()
) -> tuple[Record, ...]:
    """Every record about the stacks of `folder`; `only`: nothing but these checks.

    Raises CannotJudgeError.
    """
    return scan_all(checkov, {"app": folder}, checks, prefix, only)["app"]


def scan_all(
    checkov: Path,
    folders: Mapping[str, Path],
    checks: Path,
    prefix: str,
    only: Sequence[str] = (),
) -> dict[str, tuple[Record, ...]]:
    """Several apps, none of which knows of the others, in one go.

    checkov gets a copy of the stacks, an empty home and an empty environment: it takes settings,
    skipped checks among them, from files and variables wherever it finds any.
    """
    with tempfile.TemporaryDirectory() as scratch:
        home, apps = Path(scratch) / "home", Path(scratch) / "apps"
        home.mkdir()
        for name, folder in folders.items():
            _copy(folder, apps / name)
        command = [str(checkov.absolute()), "--directory", str(apps), "--framework", FRAMEWORK]
        command += ["--output", "json", "--skip-download", "--skip-results-upload"]
        command += ["--external-checks-dir", str(ADAPTER)]
        command += ["--check", ",".join(only)] if only else []
        results = _results(_run(command, home, _environment(home, apps, checks, prefix)))
        return {name: _records(results, name, apps / name) for name in folders}


def _copy(folder: Path, app: Path) -> None:
    for file in sorted(folder.glob(f"*/{STACK_FILE}")):
        (app / file.parent.name).mkdir(parents=True)
        shutil.copyfile(file, app / file.parent.name / STACK_FILE)
    if (folder / CHOICES_FILE).exists():
        shutil.copyfile(folder / CHOICES_FILE, app / CHOICES_FILE)


def _environment(home: Path, apps: Path, checks: Path, prefix: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "LOG_LEVEL": "ERROR",
        ENV_CHECKS: str(checks.resolve()),
        ENV_PREFIX: prefix,
        ENV_APPS: str(apps),
    }


def _run(command: list[str], home: Path, environment: Mapping[str, str]) -> str:
    try:
        ended = subprocess.run(
            command,
            cwd=home,
            env=dict(environment),
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except OSError as error:
        raise CannotJudgeError(
            f"{command[0]}: checkov can't be started ({error.strerror}); `make setup` installs it"
        ) from None
    except subprocess.TimeoutExpired:
        raise CannotJudgeError(f"checkov gave no answer in {TIMEOUT} s") from None
    said = ended.stderr.decode(errors="replace").strip()
    if ended.returncode not in (0, 1) or "Cannot load external check" in said:
        raise CannotJudgeError(f"checkov ended with {ended.returncode}: {said[-2000:]}")
    return ended.stdout.decode(errors="replace")


def _results(text: str) -> Mapping[str, Any]:
    """The one report about our framework, of the version that we know."""
    try:
        report = json.loads(text)
    except ValueError:
        raise CannotJudgeError(f"checkov printed no JSON: {text[:300]!r}") from None
    if not isinstance(report, dict) or "results" not in report:
        raise CannotJudgeError("checkov read nothing: it found no stack that it could judge")
    version = report.get("summary", {}).get("checkov_version")
    if version != CHECKOV_VERSION:
        raise CannotJudgeError(
            f"checkov is of version {version}, must be {CHECKOV_VERSION}; run `make setup`"
        )
    if report.get("check_type") != FRAMEWORK:
        raise CannotJudgeError(f"checkov read {report.get('check_type')}, must be {FRAMEWORK}")
    unread = report["results"].get("parsing_errors") or []
    if unread or report["summary"].get("parsing_errors"):
        names = ", ".join(Path(file).parent.name for file in unread) or "some stack"
        raise CannotJudgeError(
            f"checkov can't read {names}: a file with terraform.required_version is such a case, "
            "and checkov would call it passed"
        )
    results: dict[str, Any] = report["results"]
    return results


def _records(results: Mapping[str, Any], name: str, folder: Path) -> tuple[Record, ...]:
    skipped = results.get("skipped_checks")
    if skipped:
        raise CannotJudgeError(
            f"checkov skipped {skipped[0]['check_id']}; what is excused stands in waivers.yaml"
        )
    app = App.load(folder)
    spans = {
        stack: resource_spans((folder / stack / STACK_FILE).read_text(), f"{stack}/{STACK_FILE}")
        for stack in app.stacks
    }
    return tuple(
        _record(check, passed, app, spans)
        for passed, checks in ((True, "passed_checks"), (False, "failed_checks"))
        for check in results.get(checks, [])
        if Path(check["file_path"]).parts[1] == name
    )


def _record(
    check: Mapping[str, Any],
    passed: bool,
    app: App,
    spans: Mapping[str, Mapping[tuple[str, str], Span]],
) -> Record:
    stack = Path(check["file_path"]).parent.name
    line = int(check["file_line_range"][0])
    resource = _at(app.stacks[stack], line, spans[stack])
    details = [json.loads(text) for text in check.get("details") or []]
    return Record(
        check=check["check_id"],
        title=check["check_name"],
        stack=stack,
        path=resource.path if resource else stack,
        line=line,
        passed=passed,
        reasons=tuple(
            reason if detail["answer"] == "fail" else f"can't tell: {reason}"
            for detail in details
            for reason in detail["reasons"]
        ),
        source=check.get("guideline") or "",
    )


def _at(stack: Stack, line: int, spans: Mapping[tuple[str, str], Span]) -> Resource | None:
    """checkov's own names of resources leave out the type at times; the line is dependable."""
    for resource in stack.resources():
        span = spans[resource.type, resource.name]
        if span.first <= line <= span.last:
            return resource
    return None
