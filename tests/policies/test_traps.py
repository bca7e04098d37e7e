"""Where other gates say `passed` because they read nothing, this one says that it can't judge."""

import json
from collections.abc import Callable
from pathlib import Path

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
            assert not [file.name for file in reports.glob("*.*") if file.is_file()]
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
