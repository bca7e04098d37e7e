"""Signs that a worker must stop: signals, the end of the launcher that started it, and notices
that the machine is taken back."""

import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio

from gristmill.contract.process import ENV_PARENT_PIPE, ENV_RECLAIM_FILE, NoticeKind
from gristmill.runtime.host import Host
from gristmill.runtime.reclaim_notice import Notice, Tell, watch_ec2, watch_file
from gristmill.runtime.telemetry import Emit


async def watch(stop: anyio.Event, host: Host, emit: Emit, env: Mapping[str, str]) -> None:
    """Tell of each notice, and set `stop` at the first that ends the work."""

    def tell(notice: Notice) -> None:
        emit(
            "reclaim_notice",
            kind=notice.kind,
            what=notice.what,
            seconds_left=notice.seconds_left,
        )
        if notice.ends_work:
            stop.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_signals, tell)
        if env.get(ENV_PARENT_PIPE):
            tasks.start_soon(_launcher_gone, tell)
        if env.get(ENV_RECLAIM_FILE):
            tasks.start_soon(watch_file, Path(env[ENV_RECLAIM_FILE]), host, tell)
        tasks.start_soon(watch_ec2, env, host, tell)


async def _signals(tell: Tell) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for sign in received:
            tell(Notice(NoticeKind.SIGNAL, signal.Signals(sign).name))


async def _launcher_gone(tell: Tell) -> None:
    # The launcher writes nothing: readable means that its end was closed, by exit or by kill.
    await anyio.wait_readable(sys.stdin)
    tell(Notice(NoticeKind.LAUNCHER_GONE, "the end of standard input"))
