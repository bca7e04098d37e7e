"""Where other gates say `passed` because they read nothing, this one says that it can't judge."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policies import scan
from policies.gate import main

COMPUTE = "stacks/embed-corpus-compute/cdk.tf.json"


def spoil_required_version(out: Path) -> None:
    tree = json.loads((out / COMPUTE).read_text())
    tree["terraform"]["required_version"] = ">= 1.10.0"
    (out / COMPUTE).write_text(json.dumps(tree, indent=2))


def spoil_json(out: Path) -> None:
    (out / COMPUTE).write_text((out / COMPUTE).read_text()[:-300])


def spoil_by_removing_a_stack(out: Path) -> None:
    (out / COMPUTE).unlink()


def spoil_by_emptying(out: Path) -> None:
    (out / "manifest.json").write_text('{"stacks": {}, "version": "1"}')


def spoil_manifest(out: Path) -> None:
    (out / "manifest.json").unlink()


def spoil_by_an_unknown_stack(out: Path) -> None:
    (out / "stacks" / "left-over").mkdir()
    (out / "stacks" / "left-over" / "cdk.tf.json").write_text("{}")


def spoil_by_a_stack_without_resources(out: Path) -> None:
    tree = json.loads((out / COMPUTE).read_text())
    (out / COMPUTE).write_text(json.dumps({"//": tree["//"], "terraform": tree["terraform"]}))


SPOILT = {
    spoil_required_version: "checkov can't read embed-corpus-compute",
    spoil_json: "a stack can't be read",
    spoil_by_removing_a_stack: "synthesize anew",
    spoil_by_emptying: "holds no stack",
    spoil_manifest: "manifest.json: is not there",
    spoil_by_an_unknown_stack: "left-over",
    spoil_by_a_stack_without_resources: "no check ran over embed-corpus-compute",
}


@pytest.fixture
def gate(
    full_platform: Path,
    environment: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str]]:
    """The gate's exit code and what it said to the person."""

    def run(out: Path, *more: str) -> tuple[int, str]:
        reports = tmp_path / "reports"
        arguments = ["--platform", str(full_platform), "--stacks", str(out)]
        arguments += ["--out", str(reports), "--environment", str(environment), *more]
        code = main(arguments)
        if code == 2:
            assert reports.is_file() or not [
                file.name for file in reports.glob("*.*") if file.is_file()
            ]
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("spoil", "said"), SPOILT.items(), ids=[spoil.__name__ for spoil in SPOILT]
)
def test_what_cannot_be_read_is_not_passed(
    spoil: Callable[[Path], None],
    said: str,
    cloud_out: Path,
    gate: Callable[..., tuple[int, str]],
) -> None:
    spoil(cloud_out)
    code, told = gate(cloud_out)
    assert (code, said in told) == (2, True), told


def test_an_empty_folder_is_not_passed(
    tmp_path: Path, gate: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / "empty").mkdir()
    code, told = gate(tmp_path / "empty")
    assert code == 2
    assert "synthesize first" in told


def test_a_framework_that_reads_no_json_is_not_passed(
    cloud_out: Path, gate: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "FRAMEWORK", "terraform")
    code, told = gate(cloud_out)
    assert code == 2
    assert "read nothing" in told


def test_without_checkov_nothing_is_passed(
    cloud_out: Path, tmp_path: Path, gate: Callable[..., tuple[int, str]]
) -> None:
    code, told = gate(cloud_out, "--environment", str(tmp_path / "nowhere"))
    assert code == 2
    assert "make setup" in told


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            {
                "check_type": "terraform_json",
                "results": {"passed_checks": []},
                "summary": {"checkov_version": "3.0.0"},
            },
            "version 3.0.0, must be",
        ),
        ({"passed": 0, "failed": 0}, "read nothing"),
        ([], "read nothing"),
    ],
    ids=["another version", "nothing found", "no report"],
)
def test_another_checkov_is_not_trusted(
    printed: object,
    said: str,
    cloud_out: Path,
    tmp_path: Path,
    gate: Callable[..., tuple[int, str]],
) -> None:
    fake = tmp_path / "other" / "bin" / "checkov"
    fake.parent.mkdir(parents=True)
    fake.write_text(f"#!/bin/sh\ncat <<'JSON'\n{json.dumps(printed)}\nJSON\n")
    fake.chmod(0o755)
    code, told = gate(cloud_out, "--environment", str(tmp_path / "other"))
    assert code == 2
    assert said in told


def test_settings_that_lie_about_cannot_skip_a_check(
    cloud_out: Path,
    gate: Callable[..., tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    settings = "skip-check: [CKV_AWS_338, GRIST_BATCH_SCALE_TO_ZERO]\nsoft-fail: true\n"
    for place in (cloud_out, cloud_out / "stacks", tmp_path):
        (place / ".checkov.yaml").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CKV_SKIP_CHECK", "CKV_AWS_338")
    tree = json.loads((cloud_out / COMPUTE).read_text())
    for environment in tree["resource"]["aws_batch_compute_environment"].values():
        environment["compute_resources"]["min_vcpus"] = 1
    (cloud_out / COMPUTE).write_text(json.dumps(tree, indent=2))
    code, _ = gate(cloud_out)
    assert code == 1
    table = (tmp_path / "reports" / "table.txt").read_text()
    assert "GRIST_BATCH_SCALE_TO_ZERO" in table
    assert "WAIVER_UNUSED" not in table


def _edited(out: Path, edit: Callable[[dict[str, Any]], object], stack: str = COMPUTE) -> None:
    tree = json.loads((out / stack).read_text())
    edit(tree)
    (out / stack).write_text(json.dumps(tree, indent=2))


def hide_behind_a_duplicate(out: Path) -> None:
    text = (out / COMPUTE).read_text()
    hidden = '"resource": {"aws_sqs_queue": {"hidden": {}}}, "resource"'
    (out / COMPUTE).write_text(text.replace('"resource"', hidden, 1))


def hide_in_a_module(out: Path) -> None:
    _edited(out, lambda tree: tree.update(module={"hidden": {"source": "./hidden"}}))


def hide_in_another_file(out: Path) -> None:
    (out / COMPUTE).with_name("override.tf.json").write_text("{}")


def run_a_program_while_planning(out: Path) -> None:
    _edited(out, lambda tree: tree["data"].update(external={"it": {"program": ["sh"]}}))


def run_a_program_while_applying(out: Path) -> None:
    def provision(tree: dict[str, Any]) -> None:
        for queue in tree["resource"]["aws_sqs_queue"].values():
            queue["provisioner"] = {"local-exec": {"command": "true"}}

    _edited(out, provision)


def act_in_another_account(out: Path) -> None:
    _edited(
        out,
        lambda t: t["provider"]["aws"].append({"alias": "b", "assume_role": [{"role_arn": "x"}]}),
    )


def act_in_a_wrong_account(out: Path) -> None:
    _edited(out, lambda t: t["provider"]["aws"][0].update(allowed_account_ids=["999999999999"]))


def wear_an_excused_path(out: Path) -> None:
    def disguise(tree: dict[str, Any]) -> None:
        for queue in tree["resource"]["aws_sqs_queue"].values():
            queue["//"]["metadata"]["path"] = "embed-corpus-data/access-logs/bucket"

    _edited(out, disguise)


def share_a_path(out: Path) -> None:
    def share(tree: dict[str, Any]) -> None:
        for queue in tree["resource"]["aws_sqs_queue"].values():
            queue["//"]["metadata"]["path"] = "embed-corpus-compute/shards/work"

    _edited(out, share)


def write_resources_as_a_list(out: Path) -> None:
    _edited(out, lambda tree: tree.update(resource=[tree["resource"]]))


def leave_a_stack_out_of_everything(out: Path) -> None:
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["stacks"]["embed-corpus-data"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    (out / "stacks" / "embed-corpus-data" / "cdk.tf.json").unlink()


def bring_a_stack_of_nobodys(out: Path) -> None:
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["stacks"]["maps-data"] = manifest["stacks"]["embed-corpus-data"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    (out / "stacks" / "maps-data").mkdir()
    (out / "stacks" / "maps-data" / "cdk.tf.json").write_text("{}")


def leave_a_resource_out_of_the_count(out: Path) -> None:
    def none(tree: dict[str, Any]) -> None:
        for queue in tree["resource"]["aws_sqs_queue"].values():
            queue["count"] = 0

    _edited(out, none)


HIDDEN = {
    hide_behind_a_duplicate: "resource is given twice",
    hide_in_a_module: "module can't be judged",
    hide_in_another_file: "Terraform would read it too",
    run_a_program_while_planning: "data.external can't be judged",
    run_a_program_while_applying: "has a provisioner",
    act_in_another_account: "must be one",
    act_in_a_wrong_account: "allowed_account_ids are ['999999999999']",
    wear_an_excused_path: "of another stack",
    share_a_path: "embed-corpus-compute/shards/work, as",
    write_resources_as_a_list: "write resources by type and name",
    leave_a_stack_out_of_everything: "there is no stack embed-corpus-data",
    bring_a_stack_of_nobodys: "stack maps-data is of no blueprint",
    leave_a_resource_out_of_the_count: "checks did not run",
}


@pytest.mark.parametrize(("hide", "said"), HIDDEN.items(), ids=[hide.__name__ for hide in HIDDEN])
def test_what_would_be_deployed_unseen_is_not_passed(
    hide: Callable[[Path], None],
    said: str,
    cloud_out: Path,
    gate: Callable[..., tuple[int, str]],
) -> None:
    hide(cloud_out)
    code, told = gate(cloud_out)
    assert (code, said in told) == (2, True), told


def test_a_type_that_no_check_was_written_for_is_a_finding(
    cloud_out: Path, tmp_path: Path, gate: Callable[..., tuple[int, str]]
) -> None:
    group = {"group": "g", "policy": "${jsonencode({})}"}
    _edited(cloud_out, lambda tree: tree["resource"].update(aws_iam_group_policy={"it": group}))
    assert gate(cloud_out)[0] == 1
    table = (tmp_path / "reports" / "table.txt").read_text()
    assert "STACK_UNKNOWN_TYPE" in table
    assert "aws_iam_group_policy is not in policies/known_types.py" in table


def test_a_fault_of_the_gate_itself_is_no_finding(
    cloud_out: Path,
    tmp_path: Path,
    gate: Callable[..., tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("unforeseen")

    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "report.sarif").write_text("of a run before")
    monkeypatch.setattr("policies.gate.judge", broken)
    code, told = gate(cloud_out)
    assert code == 2
    assert "KeyError: 'unforeseen'" in told


def test_reports_that_cannot_be_written_are_no_finding(
    cloud_out: Path, tmp_path: Path, gate: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / "reports").write_text("a file")
    assert gate(cloud_out)[0] == 2
