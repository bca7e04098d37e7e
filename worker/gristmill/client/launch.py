"""N worker processes on this machine: start, listen, restart what dies, stop all together."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from gristmill.contract import process
from gristmill.contract.errors import GristmillError
from gristmill.contract.failure import CLASS_OF, RESTARTS, FailureClass, backoff
from gristmill.contract.process import EXIT_MEANING, MACHINE_GOES, ExitCode
from gristmill.contract.run import Policy

LONGEST_EVENT: Final = 2**20

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Crew:
    """What to start."""

    run: str
    """URI of the run directory."""
    queue: str
    workers: int
    policy: Policy


@dataclass(slots=True)
class Ending:
    """How the crew ended: the first thing that went wrong, or DONE."""

    code: ExitCode = ExitCode.DONE
    message: str | None = None

    def take(self, code: ExitCode, message: str | None) -> None:
        if self.code is ExitCode.DONE:
            self.code, self.message = code, message


class Launch:
    """One go at a run on this machine."""

    def __init__(
        self,
        crew: Crew,
        listen: Callable[[Event], None],
        jitter: Callable[[], float],
    ) -> None:
        self._crew = crew
        self._jitter = jitter
        self._listen = listen
        self._ending = Ending()
        self._stop = anyio.Event()
        self._deaths: Counter[FailureClass] = Counter()
        self._processes: set[Process] = set()

    async def run(self) -> Ending:
        """Until every worker has ended. `listen` hears each event; what it raises stops the run."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._heed_signals)
            async with anyio.create_task_group() as crew:
                for _ in range(self._crew.workers):
                    crew.start_soon(self._keep_one)
            tasks.cancel_scope.cancel()
        return self._ending

    def stop(self, code: ExitCode, message: str) -> None:
        """Tell every worker to publish what it has and end."""
        self._ending.take(code, message)
        self._stop.set()
        for running in self._processes:
            _tell(running, signal.SIGTERM)

    async def _heed_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async for _ in received:
                if self._stop.is_set():
                    for running in self._processes:
                        _tell(running, signal.SIGKILL)
                self.stop(ExitCode.RECLAIMED, "stopped; everything finished is kept")

    async def _keep_one(self) -> None:
        """One place in the crew: a worker, and its successors."""
        while not self._stop.is_set():
            code, message = await self._one_attempt()
            if code is ExitCode.DONE or self._stop.is_set():
                return
            failure = FailureClass.ENGINE_DEAD if code is None else CLASS_OF[code]
            allowed = RESTARTS.get(failure, 0)
            if code is not None and not allowed:
                self.stop(code, message or EXIT_MEANING[code])
                return
            self._deaths[failure] += 1
            self._pass_on({"event": "worker_died", "failure": failure, "message": message})
            if self._deaths[failure] > allowed:
                said = f"{message} ({self._deaths[failure]} times in a row)"
                if code is None:  # killed from outside, as a machine short of memory does
                    said += (
                        "; if it was for want of memory, give it fewer --workers or smaller parts"
                    )
                self.stop(code or ExitCode.ENGINE_DEAD, said)
            await self._pause(self._deaths[failure])

    async def _pause(self, deaths: int) -> None:
        with anyio.move_on_after(backoff(deaths, self._jitter())):
            await self._stop.wait()

    async def _one_attempt(self) -> tuple[ExitCode | None, str | None]:
        """(exit code, message); code None: killed by a signal."""
        said: str | None = None
        running = await anyio.open_process(
            [sys.executable, "-m", "gristmill.runtime.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | self._environment(),
            start_new_session=True,
        )
        async with running:
            self._processes.add(running)
            if self._stop.is_set():  # while it was being started
                _tell(running, signal.SIGTERM)
            try:
                said = await self._hear(running)
                status = await running.wait()
            finally:
                self._processes.discard(running)
        if status < 0:
            return None, f"a worker was killed by {signal.Signals(-status).name}"
        known = status in ExitCode.__members__.values()
        code = ExitCode(status) if known else ExitCode.BUG
        return code, said or f"a worker ended with {status} ({EXIT_MEANING[code]})"

    async def _hear(self, running: Process) -> str | None:
        """Pass events on; return the last message, or else the last thing a library said: a worker
        that dies while it imports has only that."""
        if running.stderr is None:
            raise AssertionError("a worker was started without a pipe for its events")
        lines = BufferedByteReceiveStream(running.stderr)
        said: str | None = None
        note: str | None = None
        while True:
            try:
                line = await lines.receive_until(b"\n", LONGEST_EVENT)
            except (anyio.EndOfStream, anyio.IncompleteRead):
                return said or note
            except anyio.DelimiterNotFound:  # a library's progress bar, say: no event of ours
                await lines.receive(LONGEST_EVENT)
                continue
            event = _event(line)
            if event["event"] == "part_published":
                self._deaths.clear()
            if event["event"] == "reclaim_notice" and event["kind"] in MACHINE_GOES:
                self.stop(ExitCode.RECLAIMED, _farewell(event))
            said = event.get("message") or said
            note = event["text"].strip() or note if event["event"] == "note" else note
            self._pass_on(event)

    def _pass_on(self, event: Event) -> None:
        try:
            self._listen(event)
        except GristmillError as error:
            self.stop(error.exit_code, str(error))

    def _environment(self) -> dict[str, str]:
        crew = self._crew
        threads = max(1, (os.cpu_count() or 1) // crew.workers)
        return process.WORKER_ENVIRONMENT | {
            process.ENV_RUN: crew.run,
            process.ENV_QUEUE: crew.queue,
            process.ENV_ATTEMPT: uuid.uuid4().hex[:12],
            process.ENV_THREADS: str(threads),
            process.ENV_SHARE: repr(1 / crew.workers),
            process.ENV_POLICY: crew.policy.model_dump_json(),
            process.ENV_PARENT_PIPE: "1",
        }


def _event(line: bytes) -> Event:
    """A line of a worker's stderr; what is no event of ours (a library's warning) is a note."""
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if isinstance(event, dict) and "event" in event:
        return event
    return {"event": "note", "text": line.decode(errors="replace")}


def _farewell(notice: Event) -> str:
    left = notice["seconds_left"]
    when = "" if left is None else f", {left:.0f} s left"
    return (
        f"this machine is taken back ({notice['kind']}: {notice['what']}{when}); everything "
        f"finished is kept"
    )


def _tell(running: Process, what: signal.Signals) -> None:
    if running.returncode is None:
        running.send_signal(what)
