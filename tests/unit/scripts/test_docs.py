"""What the generated pages hold."""

import json
from pathlib import Path

import pytest

import docs
from gristmill.contract import process
from gristmill.contract.process import ExitCode
from gristmill.contract.record import RejectionClass


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return docs.pages()


@pytest.mark.parametrize("file", ["blueprint", "platform"])
def test_every_key_of_the_schema_has_a_row(file: str, pages: dict[str, str]) -> None:
    schema = json.loads(pages[f"{file}.schema.json"])
    objects = [schema, *(d for d in schema["$defs"].values() if "properties" in d)]
    keys = {key for node in objects for key in node["properties"]}
    assert [key for key in sorted(keys) if f"| `{key}` |" not in pages[f"{file}.md"]] == []


def test_every_key_of_the_platform_and_the_deployment_says_what_it_is(
    pages: dict[str, str],
) -> None:
    for name in ("platform.md", "deployment.md"):
        rows = [line.strip("| ").split(" | ") for line in pages[name].splitlines()]
        keys = [row for row in rows if len(row) > 1 and row[0].startswith("`")]
        assert len(keys) > 20
        assert [r[0] for r in keys if r[0] != "`kind`" and not r[-1].rstrip("|").strip()] == []


def test_mappings_and_kinds_are_shown_as_one_writes_them(pages: dict[str, str]) -> None:
    page = pages["platform.md"]
    assert "## existing_buckets.<name>" in page
    assert "| `tags` | mapping of names to strings | absent |" in page
    assert "`kind` is create, existing | `{kind: create}` |" in page


def test_sizes_and_durations_are_shown_as_one_writes_them(pages: dict[str, str]) -> None:
    assert "| `bytes` | size, as `64MiB` | `64MiB` |" in pages["blueprint.md"]
    assert "| `deadline` | duration, as `6h` | absent |" in pages["blueprint.md"]


def test_every_exit_code_and_rejection_class_has_a_row(pages: dict[str, str]) -> None:
    assert all(f"| {int(c)} | {c.name} |" in pages["exit-codes.md"] for c in ExitCode)
    assert all(f"| `{reason}` |" in pages["rejections.md"] for reason in RejectionClass)


def test_every_environment_variable_and_notice_has_a_row_that_says_something(
    pages: dict[str, str],
) -> None:
    names = [value for name, value in vars(process).items() if name.startswith("ENV_")]
    rows = [line.split(" | ") for line in pages["environment.md"].splitlines()]
    said = {row[0].strip("| `"): row[1].strip("| ") for row in rows if len(row) == 2}
    assert len(names) > 10
    assert [name for name in [*names, *process.NoticeKind] if not said.get(name)] == []


def test_every_command_for_people_is_described_and_the_workers_is_not(
    pages: dict[str, str],
) -> None:
    commands = [line for line in pages["cli.md"].splitlines() if line.startswith("## ")]
    assert "## gristmill run" in commands
    assert "## gristmill worker" not in commands


def test_the_run_directory_page_names_every_kind_of_key(pages: dict[str, str]) -> None:
    page = pages["run-directory.md"]
    assert "| `shards/000007/parts/000003.json` |" in page
    assert "| `rejected/000007.jsonl` |" in page


def test_check_fails_for_a_stale_page_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "REFERENCE", tmp_path)
    assert docs.main(["--check"]) == 1
    assert "docs/reference/cli.md is stale: run `make docs`" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_written_pages_pass_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "REFERENCE", tmp_path)
    assert docs.main([]) == 0
    assert docs.main(["--check"]) == 0


def test_an_unknown_option_is_a_usage_error() -> None:
    assert docs.main(["--chek"]) == 64
