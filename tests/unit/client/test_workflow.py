"""What the CI workflows of a blueprint say, and whether GitHub and GitLab would take them."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.client.workflow import project_of, workflows
from gristmill.contract.errors import ConfigError, UsageError

GITHUB = Path(".github/workflows/gristmill-my-corpus.yml")
GITLAB = Path(".gitlab/gristmill-my-corpus.yml")
CI = {
    "deploy_subject": "repo:owner/name:environment:production",
    "plan_subject": "repo:owner/name:environment:look",
}
PLATFORM = {
    "version": 1,
    "account": "111122223333",
    "region": "eu-central-1",
    "name": "mills",
    "image": f"gristmill/worker@sha256:{'0' * 64}",
    "state": {"kind": "s3", "bucket": "states"},
    "permissions_boundary": "arn:aws:iam::111122223333:policy/boundary",
    "ci": CI,
}
TERRAFORM = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$1 $2" in
  "-chdir=my-corpus-compute plan")
    echo "$SAID" >&2
    exit 1 ;;
esac
"""
"""A stand-in: planning one of the stacks fails with what SAID holds."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.py").touch()
    (tmp_path / "platform.yaml").write_text(json.dumps(PLATFORM))
    return tmp_path


def written(project: Path) -> dict[Path, Any]:
    found = workflows(project, "my-corpus")
    found.write()
    return {path: yaml.safe_load((project / path).read_text()) for path in found.texts}


def scripts(project: Path) -> Iterator[str]:
    files = written(project)
    for job in files[GITHUB]["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
    for job in files[GITLAB].values():
        yield from (*job.get("before_script", []), *job["script"])


def advice(project: Path, **changes: Any) -> str:
    (project / "platform.yaml").write_text(json.dumps(PLATFORM | changes))
    return "\n".join(workflows(project, "my-corpus").advice)


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        (GITHUB, ["vendor.github-workflows"]),
        (GITLAB, ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    ],
)
def test_a_workflow_is_what_the_published_schema_takes(
    project: Path, path: Path, schema: list[str]
) -> None:
    written(project)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *schema]
    done = _run([*command, str(project / path)])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_every_script_can_be_read_by_a_shell(project: Path, shell: str) -> None:
    found = list(scripts(project))
    assert len(found) == 3 + 6
    for script in found:
        done = _run([shell, "-n", "-c", script])
        assert done.returncode == 0, done.stderr


def test_every_action_is_pinned_by_commit_and_says_its_version(project: Path) -> None:
    written(project)
    used = re.findall(r"uses: (.*)", (project / GITHUB).read_text())
    assert len(used) == 8
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_nobody_may_more_than_its_job_needs(project: Path) -> None:
    github = written(project)[GITHUB]
    assert github["permissions"] == {}
    assert {name: job["permissions"] for name, job in github["jobs"].items()} == {
        "policy": {"contents": "read", "actions": "read", "security-events": "write"},
        "plan": {"id-token": "write"},
    }


def test_the_role_is_taken_only_where_none_of_the_repositorys_code_runs(project: Path) -> None:
    files = written(project)
    plan = files[GITHUB]["jobs"]["plan"]
    used = [step["uses"].partition("@")[0] for step in plan["steps"] if "uses" in step]
    assert "actions/checkout" not in used
    gitlab = files[GITLAB]["gristmill-my-corpus-plan"]
    assert gitlab["variables"]["GIT_STRATEGY"] == "none"
    assert [name for name, job in files[GITLAB].items() if "id_tokens" in job] == [
        "gristmill-my-corpus-plan"
    ]


def test_findings_are_uploaded_though_the_gate_failed(project: Path) -> None:
    files = written(project)
    steps = files[GITHUB]["jobs"]["policy"]["steps"]
    sarif = next(step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert sarif["if"].startswith("always()")
    assert sarif["with"]["sarif_file"] == "build/policy/report.sarif"
    artifacts = files[GITLAB]["gristmill-my-corpus-policy"]["artifacts"]
    assert artifacts["when"] == "always"
    assert artifacts["reports"] == {"junit": "build/policy/junit.xml"}


def test_whatever_may_change_the_verdict_starts_it(project: Path) -> None:
    files = written(project)
    expected = {
        "blueprints/my-corpus/**/*",
        "infra/**/*",
        "policies/**/*",
        "platform.yaml",
    }
    # YAML reads the key `on` as true.
    events = files[GITHUB][True]
    for paths in (events["pull_request"]["paths"], events["push"]["paths"]):
        assert {*expected, str(GITHUB)} <= set(paths)
    for job in files[GITLAB].values():
        for rule in job["rules"]:
            assert {*expected, str(GITLAB)} <= set(rule["changes"])


def test_what_the_platform_chose_is_filled_in(project: Path) -> None:
    files = written(project)
    plan = files[GITHUB]["jobs"]["plan"]
    assert plan["environment"] == "look"
    login = next(step["with"] for step in plan["steps"] if "role-to-assume" in step.get("with", {}))
    role = "arn:aws:iam::111122223333:role/mills-ci-plan"
    assert (login["role-to-assume"], login["aws-region"]) == (role, "eu-central-1")
    variables = files[GITLAB]["gristmill-my-corpus-plan"]["variables"]
    assert (variables["AWS_ROLE_ARN"], variables["AWS_REGION"]) == (role, "eu-central-1")


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Error: Unable to find remote state", 0),
        ("Error: AccessDenied", 1),
        ("Error: Unable to find remote state\nError: AccessDenied", 1),
        ("killed", 1),
    ],
)
def test_a_plan_that_fails_fails_the_job_unless_there_is_nothing_to_compare_with(
    project: Path, shell: str, said: str, code: int
) -> None:
    stacks = ["mills-foundation", "my-corpus-access", "my-corpus-compute", "my-corpus-data"]
    for stack in stacks:
        (project / "build/policy/cdktf.out/stacks" / stack).mkdir(parents=True)
    done = _planned(project, shell, said)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout
    calls = (project / "calls").read_text().splitlines()
    planned = [call for call in calls if call.split()[1] == "plan"]
    assert sorted(call.split()[0] for call in planned) == [f"-chdir={stack}" for stack in stacks]
    assert all("-lock=false" in call for call in planned)


def test_no_stack_at_all_is_no_plan(project: Path) -> None:
    assert _planned(project, "sh", "").returncode != 0


def test_a_workflow_that_is_there_is_left_as_it_is(project: Path) -> None:
    found = workflows(project, "my-corpus")
    (project / GITLAB).parent.mkdir(parents=True)
    (project / GITLAB).write_text("mine")
    with pytest.raises(UsageError, match=r"gristmill-my-corpus\.yml: is there already; remove it"):
        found.refuse_overwriting()
    with pytest.raises(UsageError, match=r"gristmill-my-corpus\.yml: can't be written"):
        found.write()
    assert (project / GITLAB).read_text() == "mine"


def test_a_project_without_platform_gets_a_placeholder_and_is_told_so(project: Path) -> None:
    (project / "platform.yaml").unlink()
    found = workflows(project, "my-corpus")
    assert "role-to-assume: arn:aws:iam::000000000000:role/gristmill-ci-plan" in found.texts[GITHUB]
    assert "platform.yaml: is not there yet" in "\n".join(found.advice)


def test_a_platform_that_is_wrong_is_refused(project: Path) -> None:
    (project / "platform.yaml").write_text("version: 2")
    with pytest.raises(ConfigError, match="version"):
        workflows(project, "my-corpus")


def test_what_a_plan_will_miss_is_told(project: Path) -> None:
    assert advice(project).splitlines() == [
        f"to run it on GitLab, add to .gitlab-ci.yml: include: [{{local: {GITLAB}}}]"
    ]
    assert "ci is missing; without it there is no role mills-ci-plan" in advice(project, ci=None)
    assert "state is local" in advice(project, state={"kind": "local"})
    subject = {"plan_subject": "repo:owner/name:pull_request"}
    assert "got 'repo:owner/name:pull_request', but" in advice(project, ci=CI | subject)
    gitlab = {
        "issuer": "gitlab.com",
        "plan_subject": "project_path:group/name:ref_type:branch:ref:main",
    }
    assert "plan_subject" not in advice(project, ci=CI | gitlab)


def test_only_a_folder_below_blueprints_of_a_project_is_deployed(project: Path) -> None:
    assert project_of(project / "blueprints" / "my-corpus") == project
    assert project_of(project / "elsewhere" / "my-corpus") is None
    (project / "infra" / "main.py").unlink()
    assert project_of(project / "blueprints" / "my-corpus") is None


def _planned(project: Path, shell: str, said: str) -> subprocess.CompletedProcess[str]:
    plan = list(scripts(project))[-1]
    tools = project / "tools"
    tools.mkdir()
    (tools / "terraform").write_text(TERRAFORM)
    (tools / "terraform").chmod(0o755)
    path = f"{tools}:/usr/bin:/bin"
    environment = {"PATH": path, "CALLS": str(project / "calls"), "SAID": said}
    return _run([shell, "-e", "-c", plan], cwd=project, env=environment)


def _run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)
