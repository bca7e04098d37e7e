"""Subject -> findings: every check, ours and others', over every stack and blueprint."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from policies.check import PREFIX, SHARED, TEAM_PREFIX
from policies.demands import judged
from policies.describe import Described, described
from policies.documents import Remark, collect, cross_check
from policies.finding import Finding, Place
from policies.known_types import KNOWN
from policies.lines import key_line, resource_spans
from policies.reading.stack import STACK_FILE, Resource
from policies.rules import Rule, judge_blueprint
from policies.scan import Record, scan
from policies.seal import seal, unbroken
from policies.synth import TEAM_FOLDER, Subject

HERE: Final = Path(__file__).parent
CHECKOV_DOCS: Final = "https://www.checkov.io/5.Policy%20Index/terraform.html"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was found, before any waiver, and how much was looked at."""

    findings: tuple[Finding, ...]
    records: tuple[Record, ...]
    ours: int
    """Checks of ours, a team's included."""
    documents: int
    """Policy documents that other tools looked at."""


def judge(subject: Subject, rules: tuple[Rule, ...], environment: Path, say: Say) -> Judgement:
    """`environment`: the Python environment that holds checkov.

    A team's checks come last and in processes of their own: nothing of what they do can change
    what the shared ones said. Raises CannotJudgeError.
    """
    say(f"checkov and the shared checks, {len(subject.app.stacks)} stacks")
    shared = described(SHARED, PREFIX)
    records = scan(environment / "bin" / "checkov", subject.folder, SHARED, PREFIX)
    judged(subject.app, records, shared)
    findings = _of_records(subject, records, shared)
    asked = collect(subject.app)
    say(f"cross-checks, {len(asked)} policy documents")
    remarks = cross_check(environment / "bin" / "python", asked)
    findings += [_of_remark(subject, remark) for remark in remarks]
    say(f"rules, {len(subject.blueprints)} blueprints")
    findings += _of_blueprints(subject, rules)
    findings += _of_types(subject)
    own, said = _of_teams(subject, environment, say)
    findings += _of_records(subject, said, own)
    return Judgement(tuple(findings), (*records, *said), len(shared) + len(own), len(asked))


def _of_teams(
    subject: Subject, environment: Path, say: Say
) -> tuple[list[Described], list[Record]]:
    """Raises CannotJudgeError also where a file isn't what it was before."""
    checks: list[Described] = []
    records: list[Record] = []
    folders = _team_folders(subject)
    kept = (subject.folder.parent, HERE, *(folder for folder, _ in folders))
    sealed = seal(kept)
    for folder, stacks in folders:
        say(f"checks of {folder}")
        own, said = _of_team(subject, environment, folder, stacks)
        checks += own
        records += said
    unbroken(sealed, kept, "the teams' checks ran")
    return checks, records


def _team_folders(subject: Subject) -> list[tuple[Path, set[str]]]:
    """Folders of teams' checks, each with the stacks that they judge: those of its blueprint."""
    found = []
    for path, blueprint in subject.blueprints:
        folder = Path(path).parent / TEAM_FOLDER
        if folder.is_dir():
            of = {s for s in subject.app.stacks if subject.blueprint_of(s) == (path, blueprint)}
            found.append((folder, of))
    return found


def _of_team(
    subject: Subject, environment: Path, folder: Path, stacks: set[str]
) -> tuple[tuple[Described, ...], tuple[Record, ...]]:
    prefix = f"{TEAM_PREFIX}{folder.parent.name.upper().replace('-', '_')}_"
    own = described(folder, prefix)
    app = subject.app.only(stacks)
    asked = [check for check in own if any(app.has(type_) for type_ in check.resources)]
    if not asked:
        return own, ()
    only = [check.id for check in asked]
    said = scan(environment / "bin" / "checkov", subject.folder, folder, prefix, only)
    mine = tuple(record for record in said if record.stack in stacks)
    judged(app, mine, asked, every_stack=False)
    return own, mine


def _of_records(
    subject: Subject, records: Iterable[Record], checks: Sequence[Described]
) -> list[Finding]:
    known = {check.id: check for check in checks}
    return [
        _of_record(subject, record, known.get(record.check))
        for record in records
        if not record.passed
    ]


def _of_record(subject: Subject, record: Record, ours: Described | None) -> Finding:
    places = _places(subject, record.stack, record.path, ours.chosen_by if ours else "")
    synthesized = Place(str(subject.folder / record.stack / STACK_FILE), record.line)
    mended = f" in {places[0]}" if places else ""
    return Finding(
        check=record.check,
        title=record.title,
        where=record.path,
        places=(*places, synthesized),
        reasons=record.reasons,
        risk=ours.risk if ours else f"checkov demands it of every stack: {record.title}.",
        remedy=ours.remedy
        if ours
        else f"Change it{mended}, or have it excused in policies/waivers.yaml.",
        source=record.source or CHECKOV_DOCS,
    )


def _of_remark(subject: Subject, remark: Remark) -> Finding:
    resource = remark.document.resource
    made = _places(subject, resource.stack.name, resource.path, "")
    return Finding(
        check=remark.id,
        title=remark.title,
        where=resource.path,
        places=(*made, _line(subject, resource)),
        reasons=(remark.message,),
        risk=remark.risk,
        remedy="Narrow the statement where the grant is made, or have it excused in "
        "policies/waivers.yaml.",
        source=remark.source,
    )


def _of_types(subject: Subject) -> list[Finding]:
    return [
        Finding(
            check="STACK_UNKNOWN_TYPE",
            title="A resource is of a type that the checks were written for",
            where=resource.path,
            places=(
                *_places(subject, resource.stack.name, resource.path, ""),
                _line(subject, resource),
            ),
            reasons=(f"{resource.type} is not in policies/known_types.py",),
            risk="What no check knows is judged by none.",
            remedy="Write the checks that it needs, then add it to policies/known_types.py.",
            source="https://registry.terraform.io/providers/hashicorp/aws/latest/docs",
        )
        for resource in subject.app.resources()
        if resource.type not in KNOWN
    ]


def _line(subject: Subject, resource: Resource) -> Place:
    file = subject.folder / resource.stack.name / STACK_FILE
    spans = resource_spans(file.read_text(encoding="utf-8"), str(file))
    return Place(str(file), spans[resource.type, resource.name].first)


def _places(subject: Subject, stack: str, path: str, chosen_by: str) -> tuple[Place, ...]:
    """Lines of infra/, innermost first, and the line of the blueprint that decides."""
    made = subject.origins.get(path, ())
    of = subject.blueprint_of(stack)
    if of is None or not chosen_by:
        return made
    text = Path(of[0]).read_text(encoding="utf-8")
    return (*made, Place(of[0], key_line(text, of[0], chosen_by)))


def _of_blueprints(subject: Subject, rules: tuple[Rule, ...]) -> list[Finding]:
    findings = []
    for path, blueprint in subject.blueprints:
        text = Path(path).read_text(encoding="utf-8")
        tree: Mapping[str, object] = blueprint.model_dump(mode="json")
        findings += judge_blueprint(rules, path, text, tree)
    return findings
