import os
import signal
import sys

import anyio
import pytest

from gristmill.contract.process import ENV_PARENT_PIPE
from gristmill.runtime.interrupt import watch

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=lambda sign: sign.name)
async def test_a_signal_means_stop(sign: signal.Signals) -> None:
    stop = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, stop)
        await anyio.wait_all_tasks_blocked()
        os.kill(os.getpid(), sign)
        await stop.wait()
        tasks.cancel_scope.cancel()


async def test_a_launcher_that_is_gone_means_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, launcher = os.pipe()
    monkeypatch.setenv(ENV_PARENT_PIPE, "1")
    monkeypatch.setattr(sys, "stdin", os.fdopen(reader))
    stop = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, stop)
        await anyio.wait_all_tasks_blocked()
        assert not stop.is_set()
        os.close(launcher)
        await stop.wait()
        tasks.cancel_scope.cancel()
    sys.stdin.close()
