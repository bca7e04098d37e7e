"""Each command as a person or a scheduler calls it."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gristmill import __version__
from gristmill.contract.process import ExitCode
from tests.e2e.conftest import SELFTEST, Desk

TEXTS = [f"text {n}" for n in range(120)]


def gristmill(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The installed command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gristmill", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_command_runs_a_blueprint_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = gristmill(
        "run", str(SELFTEST.parent), "--output", "out", "--run-id", "first", "--json", "--workers",
        "2", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["state"] == "finished"
    assert report["directory"] == str(tmp_path / "runs/first")
    assert report["output"] == str(tmp_path / "out")
    shown = gristmill("results", "first", "--head", "1", cwd=tmp_path)
    assert [json.loads(line)["text"] for line in shown.stdout.splitlines()] == [
        "The mill grinds what it is given."
    ]


def test_a_refusal_of_the_command_is_an_exit_code_and_one_sentence(tmp_path: Path) -> None:
    done = gristmill("status", "nothing", cwd=tmp_path)
    assert done.returncode == ExitCode.USAGE
    assert done.stdout == ""
    assert done.stderr.startswith("error: no run at ")
    assert "Traceback" not in done.stderr


def test_the_summary_says_what_came_out_and_what_to_do_next(desk: Desk) -> None:
    desk.put("a.jsonl", '{"text": "a"}\n{"text": "b"}\n{"other": 1}\n')
    desk.put("_SUCCESS", "")
    said = desk.run(capacity__usd_per_hour=3)
    assert said.code == 0
    assert said.out == ""
    for words in (
        "run r starts: 1 shards in ",
        "left out: 1 objects, empty",
        "r (finished)",
        "2 ok, 1 rejected (1 missing_field)",
        " items/s, ",
        " tokens/s",
        " wall, ",
        " engine, ",
        " per 1,000 items, $",
        "look at results:   gristmill results ",
        "look at rejected:  gristmill results ",
        "prove it complete: gristmill verify ",
    ):
        assert words in said.err, words


def test_json_is_one_object_on_stdout_and_nothing_else(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    said = desk.run("--json")
    assert said.json["records"] == len(TEXTS)
    assert said.err == ""
    assert desk.call("status", "r", "--json").json["state"] == "finished"
    assert desk.call("verify", "r", "--json").json["sound"]
    refused = desk.run("--json", run="s", source="nowhere")
    assert refused.json == {
        "exit_code": ExitCode.BAD_INPUT,
        "message": refused.err.removeprefix("error: ").strip(),
    }


def test_the_same_run_twice_is_one_run(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    first = desk.run("--json").json
    before = {path: path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()}
    again = desk.run("--json").json
    assert again["attempts"] == first["attempts"] == 1
    assert again["records"] == len(TEXTS)
    assert {p: p.read_bytes() for p in desk.folder.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        ({"part__records": 7}, "part.records: the run has 2048, you gave 7"),
        ({"task__engine__max_tokens": 9}, "task.engine.max_tokens: the run has None, you gave 9"),
        ({"output": "elsewhere"}, "output.uri: the run has '"),
    ],
)
def test_a_changed_blueprint_is_refused_with_what_differs(
    desk: Desk, sets: dict[str, Any], sentence: str
) -> None:
    desk.put("a.jsonl", TEXTS)
    assert desk.run().code == 0
    said = desk.run(**sets)
    assert said.code == ExitCode.BAD_SPEC
    assert "run r was begun with another blueprint or model" in said.err
    assert sentence in said.err
    assert desk.texts() == TEXTS


def test_more_rejected_records_may_be_allowed_when_going_on(desk: Desk) -> None:
    desk.put("a.jsonl", b'{"text": "good"}\nbad\n')
    said = desk.run(errors__max_failed_fraction=0.1)
    assert said.code == ExitCode.BAD_INPUT
    assert "1 of 2 records were rejected (50.0%)" in said.err
    assert "to go on: gristmill resume " in said.err
    refused = desk.call("resume", "r", "--set", "part.records=5")
    assert refused.code == ExitCode.BAD_SPEC
    assert "part decides the results, so it can't change within a run" in refused.err
    assert desk.call("resume", "r", "--set", "errors.max_failed_fraction=0.5").code == 0
    desk.sound()


def test_a_limit_takes_the_first_records(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS[:50])
    desk.put("b.jsonl", TEXTS[50:])
    assert desk.run("--limit", "60", shard__bytes="1KB").code == 0
    assert desk.texts() == TEXTS[:60]
    assert desk.sound()["records"] == 60


def test_two_who_start_the_same_run_at_once_make_one_run(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    args = (
        "run", str(SELFTEST), "--input", "in", "--output", "out", "--run-id", "r", "--json",
        "--set", "part.records=5", "--set", "shard.bytes=500",
        "--set", "task.engine.records_per_second=200",
    )  # fmt: skip
    done: list[subprocess.CompletedProcess[str]] = []

    def start() -> None:
        done.append(gristmill(*args, cwd=desk.folder))

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [call.returncode for call in done] == [0, 0], [call.stderr for call in done]
    assert {json.loads(call.stdout)["records"] for call in done} == {len(TEXTS)}
    assert desk.texts() == TEXTS
    assert desk.sound()["records"] == len(TEXTS)


def test_verify_names_what_is_wrong_and_ends_with_another_code(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    desk.run(part__records=50)
    result = desk.folder / "out/results-000000.jsonl"
    result.write_bytes(result.read_bytes()[:-1])
    (desk.folder / "runs/r/shards/000000/parts/000001.json").unlink()
    said = desk.call("verify", "r")
    assert said.code == ExitCode.BAD_INPUT
    assert "error: shard 0 part 1: has no manifest, though a later part has one" in said.err
    assert "NOT sound" in said.err
    assert not desk.call("verify", "r", "--json").json["sound"]


def test_status_of_a_run_that_stopped_says_how_far_it_is(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    desk.run(part__records=10, task__engine__records_per_second=100, deadline="0.3s")
    report = desk.call("status", "r", "--json").json
    assert report["state"] == "unfinished"
    assert report["records"] < len(TEXTS)
    assert desk.call("resume", "r", "--set", "deadline=1h").code == 0
    assert desk.texts() == TEXTS


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        ({"part__record": 5}, "part.record: unknown key; did you mean records?"),
        ({"part__records": "many"}, "part.records: got 'many', must be a valid integer"),
        ({"capacity__max_workers": 0}, "capacity.max_workers: got 0, must be 1 to 10000"),
        ({"input__format__text": "'{{ text'"}, "input.format.text"),
    ],
)
def test_a_wrong_blueprint_is_config_and_named(
    desk: Desk, sets: dict[str, object], sentence: str
) -> None:
    desk.put("a.jsonl", TEXTS)
    said = desk.run(**sets)  # type: ignore[arg-type]
    assert said.code == ExitCode.CONFIG
    assert sentence in said.err
    assert not (desk.folder / "runs").exists()


@pytest.mark.parametrize(
    "args",
    [
        ["run"],
        ["run", str(SELFTEST), "--workers", "0"],
        ["run", str(SELFTEST), "--limit", "none"],
        ["grind"],
        ["status"],
        ["status", "no-such-run"],
        ["resume", "no-such-run"],
        ["results", "no-such-run"],
        ["verify", "no-such-run"],
        ["init", "x", "--from", "no-such-blueprint"],
        ["run", str(SELFTEST), "--run-id", "../outside", "--output", "out"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_usage(desk: Desk, args: list[str]) -> None:
    said = desk.call(*args)
    assert said.code == ExitCode.USAGE
    assert said.out == ""
    assert said.err


def test_a_fork_of_a_shipped_blueprint_runs_as_it_is(desk: Desk) -> None:
    said = desk.call("init", "mine", "--from", "selftest")
    assert said.code == 0
    assert "mine is yours: edit mine/blueprint.yaml, then gristmill run mine" in said.err
    assert desk.call("validate", "mine").code == 0
    assert desk.call("run", "mine", "--json").json["ok"] == 5
    assert list((desk.folder / "mine").rglob("results-000000.jsonl"))


def test_validate_needs_no_data(desk: Desk) -> None:
    said = desk.call("validate", str(SELFTEST), "--set", "input.uri=nowhere")
    assert said.code == 0
    assert "valid (transform with echo)" in said.err
    wrong = desk.call("validate", str(SELFTEST), "--set", "task.kind=paint")
    assert wrong.code == ExitCode.CONFIG


def test_version_and_help_need_no_run(desk: Desk) -> None:
    assert desk.call("--version").out == f"gristmill {__version__}\n"
    shown = desk.call("--help").out
    for command in ("run", "resume", "status", "verify", "results", "validate", "init"):
        assert command in shown


def test_runs_lie_where_the_environment_says(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a.jsonl", TEXTS)
    monkeypatch.setenv("GRISTMILL_RUNS", "elsewhere")
    assert desk.run("--json").json["directory"] == str(desk.folder / "elsewhere/r")
    assert desk.call("status", "r", "--json").json["records"] == len(TEXTS)


def test_a_worker_whose_model_is_not_the_one_of_the_run_refuses(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    assert desk.run().code == 0
    path = desk.folder / "runs/r/run.json"
    spec = json.loads(path.read_text()) | {"model_revision": "other"}
    path.write_text(json.dumps(spec))
    for name in ("manifest.json", "shards/000000/shard.json"):
        (desk.folder / "runs/r" / name).unlink()
    said = desk.call("resume", "r")
    assert said.code == ExitCode.BAD_SPEC
    assert "the model here is not the one this run began with" in said.err


def test_a_fault_of_ours_is_told_without_values(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a customer's name")

    monkeypatch.setattr("gristmill.cli.run.load_blueprint", broken)
    said = desk.run()
    assert said.code == ExitCode.BUG
    assert "KeyError: a fault in gristmill; please report it" in said.err
    assert "customer" not in said.err


def test_without_a_terminal_progress_is_plain_lines(desk: Desk) -> None:
    desk.put("a.jsonl", TEXTS)
    said = desk.run()
    assert "1/1 shards · 120 records · " in said.err
    assert "\x1b[" not in said.err
