"""A CI workflow for a blueprint: judges it and plans it, with a role that only reads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from textwrap import indent
from typing import Final

from gristmill.contract.errors import UsageError
from gristmill.contract.load import load_platform
from gristmill.contract.platform import LocalState, Platform

PLATFORM_FILE: Final = "platform.yaml"
CONTRACT: Final = "worker/gristmill/contract"
PARTS: Final = ("data", "compute", "access", "observability", "schedule")
"""A blueprint's stacks, in the order in which they can be planned."""
GITHUB_ISSUER: Final = "token.actions.githubusercontent.com"
IN_ENVIRONMENT: Final = ":environment:"
"""In the subject of a token of GitHub, for a job that runs in an environment."""
UNSET: Final = Platform(
    version=1, account="000000000000", image=f"gristmill/worker@sha256:{'0' * 64}"
)
"""In place of a platform.yaml that is not written yet."""


@dataclass(frozen=True, slots=True)
class Workflows:
    """Files for one blueprint of a project, not written yet."""

    project: Path
    texts: Mapping[Path, str]
    """Path in the project -> text."""
    advice: tuple[str, ...]
    """What a person has to do before a plan can succeed."""

    def refuse_overwriting(self) -> None:
        """Raises UsageError."""
        for path in self.texts:
            if (self.project / path).exists():
                raise UsageError(
                    f"{self.project / path}: is there already; remove it, or name another folder"
                )

    def write(self) -> None:
        """Raises UsageError; never writes over a file."""
        for path, text in self.texts.items():
            file = self.project / path
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("x", encoding="utf-8") as new:
                    new.write(text)
            except OSError as error:
                raise UsageError(f"{file}: can't be written ({error.strerror})") from None


def project_of(folder: Path) -> Path | None:
    """The project that deploys a blueprint in this folder; None for a folder anywhere else."""
    project = folder.resolve().parent.parent
    deployed = folder.resolve().parent.name == "blueprints"
    return project if deployed and (project / "infra" / "main.py").is_file() else None


def workflows(project: Path, name: str) -> Workflows:
    """For GitHub Actions and for GitLab. Raises ConfigError for a platform.yaml that is wrong."""
    file = project / PLATFORM_FILE
    platform = load_platform(file) if file.exists() else None
    github = Path(".github", "workflows", f"gristmill-{name}.yml")
    gitlab = Path(".gitlab", f"gristmill-{name}.yml")
    known = platform or UNSET
    texts = {
        github: _rendered("github", _values(known, name, github)),
        gitlab: _rendered("gitlab", _values(known, name, gitlab)),
    }
    include = f"to run it on GitLab, add to .gitlab-ci.yml: include: [{{local: {gitlab}}}]"
    return Workflows(project, texts, (include, *_advice(platform)))


def plan_role(platform: Platform) -> str:
    """Name of the role that plans from a pipeline."""
    return f"{platform.name}-ci-plan"


def planned_stacks(platform: Platform, name: str) -> tuple[str, ...]:
    """Not `<platform>-pipeline`: a person deploys it, and no role of a pipeline may read it."""
    return (f"{platform.name}-foundation", *(f"{name}-{part}" for part in PARTS))


def _values(platform: Platform, name: str, own: Path) -> dict[str, str]:
    plan = _rendered("plan", {"stacks": " ".join(planned_stacks(platform, name))}, "sh")
    return {
        "name": name,
        "paths": json.dumps(_paths(name, own)),
        "include": str(own),
        "environment": json.dumps(_environment(platform) or "plan"),
        "role": f"arn:aws:iam::{platform.account}:role/{plan_role(platform)}",
        "region": platform.region,
        "audience": platform.ci.audience if platform.ci else "sts.amazonaws.com",
        "plan_for_github": indent(plan.rstrip(), " " * 10),
        "plan_for_gitlab": indent(plan.rstrip(), " " * 6),
    }


def _paths(name: str, own: Path) -> list[str]:
    """What may change the verdict or the plan."""
    folders = (f"blueprints/{name}", "infra", "policies", "requirements", CONTRACT)
    return [*(f"{folder}/**/*" for folder in folders), PLATFORM_FILE, str(own)]


def _environment(platform: Platform) -> str:
    return platform.ci.plan_subject.partition(IN_ENVIRONMENT)[2] if platform.ci else ""


def _advice(platform: Platform | None) -> list[str]:
    if platform is None:
        return [
            f"{PLATFORM_FILE}: is not there yet; copy platform.example.yaml, then set its account "
            f"in both workflows, where {UNSET.account} stands for it"
        ]
    found = []
    if platform.ci is None:
        found.append(
            f"{PLATFORM_FILE}: ci is missing; without it there is no role {plan_role(platform)} to "
            "plan with"
        )
    elif platform.ci.issuer == GITHUB_ISSUER and not _environment(platform):
        found.append(
            f"{PLATFORM_FILE}: ci.plan_subject: got {platform.ci.plan_subject!r}, but the workflow "
            f"of GitHub plans in an environment; make it repo:owner/name{IN_ENVIRONMENT}plan"
        )
    if isinstance(platform.state, LocalState):
        found.append(
            f"{PLATFORM_FILE}: state is local, which a pipeline can't see; make it "
            "{kind: s3, bucket: …}"
        )
    return found


class _Text(Template):
    """`%{name}`: `$` belongs to shells and to both CI systems."""

    delimiter = "%"


def _rendered(template: str, values: Mapping[str, str], kind: str = "yml") -> str:
    file = resources.files("gristmill.client") / "workflows" / f"{template}.{kind}.template"
    return _Text(file.read_text(encoding="utf-8")).substitute(values)
