import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from gristmill.contract.process import (
    ENV_EC2_METADATA_DISABLED,
    ENV_EC2_METADATA_ENDPOINT,
    ENV_PARENT_PIPE,
    ENV_RECLAIM_FILE,
)
from gristmill.runtime.ec2_metadata import REBALANCE, SPOT_ACTION
from gristmill.runtime.host import Host, in_thread
from gristmill.runtime.interrupt import watch
from tests.doubles.ec2_machine import NONE, Ec2Machine, ec2_machine, found
from tests.doubles.instant_clock import InstantClock

pytestmark = pytest.mark.anyio

NO_EC2 = {ENV_EC2_METADATA_DISABLED: "true"}


class Watching:
    """A watch under way: whether it said stop, and what it told."""

    def __init__(self) -> None:
        self.stop = anyio.Event()
        self.events: list[dict[str, Any]] = []

    def emit(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})


@asynccontextmanager
async def watching(env: Mapping[str, str]) -> AsyncIterator[Watching]:
    seen = Watching()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            host = Host(InstantClock(), in_thread)
            tasks.start_soon(watch, seen.stop, host, seen.emit, env)
            await anyio.wait_all_tasks_blocked()
            yield seen
            await seen.stop.wait()
            tasks.cancel_scope.cancel()


@pytest.fixture
def machine() -> Iterator[Ec2Machine]:
    with ec2_machine() as running:
        yield running


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=lambda sign: sign.name)
async def test_a_signal_means_stop(sign: signal.Signals) -> None:
    async with watching(NO_EC2) as seen:
        os.kill(os.getpid(), sign)
    assert seen.events == [
        {"event": "reclaim_notice", "kind": "signal", "what": sign.name, "seconds_left": None}
    ]


async def test_a_launcher_that_is_gone_means_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, launcher = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reader))
    async with watching(NO_EC2 | {ENV_PARENT_PIPE: "1"}) as seen:
        assert not seen.stop.is_set()
        os.close(launcher)
    sys.stdin.close()
    assert [event["kind"] for event in seen.events] == ["launcher_gone"]


async def test_a_file_that_appears_means_stop(tmp_path: Path) -> None:
    mark = tmp_path / "reclaim"
    async with watching(NO_EC2 | {ENV_RECLAIM_FILE: str(mark)}) as seen:
        assert not seen.stop.is_set()
        mark.touch()
    assert [(event["kind"], event["what"]) for event in seen.events] == [("file", str(mark))]


async def test_ec2_taking_the_machine_back_means_stop_and_being_at_risk_does_not(
    machine: Ec2Machine,
) -> None:
    machine.will_say(REBALANCE, found(noticeTime="1970-01-01T00:00:00Z"))
    machine.will_say(
        SPOT_ACTION, NONE, NONE, found(action="terminate", time="1970-01-01T00:02:10Z")
    )
    async with watching({ENV_EC2_METADATA_ENDPOINT: machine.endpoint}) as seen:
        pass
    assert [(event["kind"], event["seconds_left"]) for event in seen.events] == [
        ("rebalance", None),
        ("spot", 120.0),
    ]
