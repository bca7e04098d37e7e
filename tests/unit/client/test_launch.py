"""The launcher over workers that are shell scripts: quick to start, and of any behaviour."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from gristmill.client.launch import Crew, Ending, Launch
from gristmill.contract.errors import TooManyRejectedError
from gristmill.contract.failure import RESTARTS, FailureClass
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy

Heard = list[dict[str, Any]]
Script = Callable[[str], None]

TELL = """tell() { printf '%s\\n' "$1" >&2; }"""
STOP = """trap 'tell "{\\"event\\":\\"ended\\",\\"message\\":\\"stopped\\"}"; exit 75' TERM"""
WAIT = "while :; do read -r line || sleep 0.01; done"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """What every worker does from now on."""
    path = tmp_path / "worker"
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.chdir(tmp_path)

    def write(body: str) -> None:
        path.write_text(f"#!/bin/sh\n{TELL}\n{body}\n")
        path.chmod(0o755)

    return write


def launch(heard: Heard, workers: int = 1) -> Launch:
    return Launch(Crew("/runs/r", "local:/q", workers, Policy()), heard.append, lambda: 0.0)


def ended(heard: Heard, workers: int = 1) -> Ending:
    return anyio.run(launch(heard, workers).run)


def names(heard: Heard) -> list[str]:
    return [event["event"] for event in heard]


def test_workers_that_end_well_end_the_run_well(script: Script) -> None:
    script("""tell '{"event":"loaded"}'""")
    heard: Heard = []
    assert ended(heard, workers=3) == Ending(ExitCode.DONE, None)
    assert names(heard) == ["loaded"] * 3


def test_a_worker_is_told_everything_by_its_environment(script: Script) -> None:
    script("env > $GRISTMILL_ATTEMPT.env")
    ended([], workers=2)
    found = [
        dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
        for path in Path().glob("*.env")
    ]
    assert len(found) == 2
    for env in found:
        assert env["GRISTMILL_RUN"] == "/runs/r"
        assert env["GRISTMILL_QUEUE"] == "local:/q"
        assert env["GRISTMILL_MACHINE_SHARE"] == "0.5"
        assert int(env["GRISTMILL_THREADS"]) >= 1
        assert Policy.model_validate_json(env["GRISTMILL_POLICY"]) == Policy()


@pytest.mark.parametrize("code", [64, 65, 70, 76, 77, 78])
def test_what_another_try_can_not_mend_ends_the_run_with_its_sentence(
    script: Script, code: int
) -> None:
    script(f"""tell '{{"event":"ended","message":"the reason"}}'; exit {code}""")
    heard: Heard = []
    assert ended(heard) == Ending(ExitCode(code), "the reason")
    assert names(heard) == ["ended"]


def test_the_others_are_stopped_when_one_ends_the_run(script: Script) -> None:
    script(
        f"mkdir first 2>/dev/null || {{ {STOP}; : > ready; {WAIT}; }}\n"
        "while [ ! -e ready ]; do sleep 0.01; done\n"
        """tell '{"event":"ended","message":"bad input"}'; exit 65"""
    )
    heard: Heard = []
    assert ended(heard, workers=2) == Ending(ExitCode.BAD_INPUT, "bad input")
    assert {event.get("message") for event in heard} == {"bad input", "stopped"}


@pytest.mark.parametrize("death", ["exit 71", "exit 74", "exit 75", "kill -9 $$"])
def test_a_worker_that_dies_is_replaced(script: Script, death: str) -> None:
    script(f"mkdir died 2>/dev/null && {death}; exit 0")
    heard: Heard = []
    assert ended(heard) == Ending(ExitCode.DONE, None)
    assert names(heard) == ["worker_died"]


def test_a_worker_that_dies_again_and_again_ends_the_run(script: Script) -> None:
    script("""tell '{"event":"ended","message":"no device"}'; exit 71""")
    heard: Heard = []
    found = ended(heard)
    times = RESTARTS[FailureClass.ENGINE_DEAD] + 1
    assert found == Ending(ExitCode.ENGINE_DEAD, f"no device ({times} times in a row)")
    assert names(heard).count("worker_died") == times


def test_a_reclaim_spends_no_budget_of_a_dead_engine(script: Script) -> None:
    script(
        "n=$(ls -d died* 2>/dev/null | wc -l); [ $n -ge 6 ] && exit 0; mkdir died$n\n"
        "[ $((n % 2)) = 0 ] && exit 71; exit 75"
    )
    heard: Heard = []
    assert ended(heard).code is ExitCode.DONE
    died = [event["failure"] for event in heard if event["event"] == "worker_died"]
    assert died == ["engine_dead", "reclaimed"] * 3


def test_a_worker_killed_again_and_again_says_by_what(script: Script) -> None:
    script("kill -9 $$")
    found = ended([])
    assert found.code is ExitCode.ENGINE_DEAD
    assert found.message is not None
    assert "a worker was killed by SIGKILL (4 times in a row)" in found.message
    assert "memory" in found.message


def test_deaths_with_progress_in_between_are_not_in_a_row(script: Script) -> None:
    script(
        """n=$(ls -d died* 2>/dev/null | wc -l); [ $n -ge 9 ] && exit 0; mkdir died$n\n"""
        """tell '{"event":"part_published"}'; exit 71"""
    )
    heard: Heard = []
    assert ended(heard).code is ExitCode.DONE
    assert names(heard).count("worker_died") == 9


def test_a_worker_that_dies_while_it_imports_tells_its_last_words(script: Script) -> None:
    script("echo Traceback >&2; echo 'ImportError: libgomp.so.1 is missing' >&2; exit 1")
    heard: Heard = []
    assert ended(heard) == Ending(ExitCode.BUG, "ImportError: libgomp.so.1 is missing")
    assert names(heard) == ["note", "note"]


def test_a_listener_that_refuses_stops_the_run_with_its_sentence(script: Script) -> None:
    script(f"""{STOP}; tell '{{"event":"part_published"}}'; {WAIT}""")
    heard: Heard = []

    def listen(event: dict[str, Any]) -> None:
        heard.append(event)
        if event["event"] == "part_published":
            raise TooManyRejectedError("too many")

    found = anyio.run(Launch(Crew("/r", "local:/q", 2, Policy()), listen, lambda: 0.0).run)
    assert found == Ending(ExitCode.BAD_INPUT, "too many")
    assert names(heard)[-1] == "ended"


def test_the_first_reason_is_the_one_told() -> None:
    ending = Ending()
    ending.take(ExitCode.STORAGE, "first")
    ending.take(ExitCode.BUG, "second")
    assert (ending.code, ending.message) == (ExitCode.STORAGE, "first")


def test_a_stop_in_the_very_moment_of_a_start_reaches_the_new_worker(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(f"""{STOP}; {WAIT}""")
    going, start = launch([]), anyio.open_process

    async def start_and_stop(*args: Any, **options: Any) -> Any:
        started = await start(*args, **options)
        going.stop(ExitCode.RECLAIMED, "at once")
        return started

    monkeypatch.setattr(anyio, "open_process", start_and_stop)
    assert anyio.run(going.run) == Ending(ExitCode.RECLAIMED, "at once")


def test_an_endless_line_without_an_end_is_no_event(script: Script) -> None:
    script(
        "head -c 3000000 /dev/zero | tr '\\0' x >&2; tell ''; tell '[1]'; tell '{\"event\":\"ok\"}'"
    )
    heard: Heard = []
    assert ended(heard).code is ExitCode.DONE
    assert names(heard)[-1] == "ok"
    assert json.dumps(heard).count("x") < 2 * 2**20


@pytest.mark.parametrize(
    ("notice", "said"),
    [
        ('"kind":"spot","what":"terminate","seconds_left":118.2', "spot: terminate, 118 s left"),
        ('"kind":"file","what":"/tmp/mark","seconds_left":null', "file: /tmp/mark"),
    ],
)
def test_on_a_machine_that_is_taken_back_every_worker_stops_and_none_is_replaced(
    script: Script, notice: str, said: str
) -> None:
    script(
        f"mkdir first 2>/dev/null || {{ {STOP}; : > ready; {WAIT}; }}\n"
        "while [ ! -e ready ]; do sleep 0.01; done\n"
        f"""tell '{{"event":"reclaim_notice",{notice}}}'; exit 75"""
    )
    heard: Heard = []
    ending = ended(heard, workers=2)
    assert ending.code is ExitCode.RECLAIMED
    assert ending.message == f"this machine is taken back ({said}); everything finished is kept"
    assert "worker_died" not in names(heard)


@pytest.mark.parametrize("kind", ["signal", "rebalance"])
def test_a_notice_about_one_worker_stops_no_other(script: Script, kind: str) -> None:
    script(
        f"""tell '{{"event":"reclaim_notice","kind":"{kind}","what":"","seconds_left":null}}'\n"""
        "mkdir first 2>/dev/null && exit 75\n"
        """tell '{"event":"loaded"}'"""
    )
    heard: Heard = []
    assert ended(heard) == Ending(ExitCode.DONE, None)
    assert names(heard).count("worker_died") == 1
