"""Signs that a worker must stop: signals, and the end of the launcher that started it."""

import os
import signal
import sys

import anyio

from gristmill.contract.process import ENV_PARENT_PIPE


async def watch(stop: anyio.Event) -> None:
    """Set `stop` at SIGTERM, at SIGINT, or when the launcher's end of standard input closes."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_signals, stop)
        if os.environ.get(ENV_PARENT_PIPE):
            tasks.start_soon(_launcher_gone, stop)


async def _signals(stop: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            stop.set()


async def _launcher_gone(stop: anyio.Event) -> None:
    # The launcher writes nothing: readable means that its end was closed, by exit or by kill.
    await anyio.wait_readable(sys.stdin)
    stop.set()
