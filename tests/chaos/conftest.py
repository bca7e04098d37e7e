"""Real processes that are killed when their engines say so: no sleeps, no luck with timing."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.doubles.folder_run import SELFTEST, FolderRun

JOURNAL = Path(__file__).parent / "journal"
PART = 50
TEXTS = [f"record number {index}" for index in range(32 * PART)]
SETTINGS = (f"part.records={PART}", "shard.bytes=20KB", "input.format.id=text")


@dataclass(frozen=True)
class Event:
    """An engine began or ended a batch."""

    pid: int
    what: str
    records: int


@dataclass
class Chaos:
    """One run over a fixed input, worked on by launcher processes that are killed."""

    place: FolderRun
    journal: int
    inferred: int = 0
    """Records whose inference ended, in all goes together."""
    killed: int = 0
    """Workers that were killed."""
    going: "subprocess.Popen[bytes] | None" = None
    _unread: bytes = b""

    def start(self, workers: int = 1) -> "subprocess.Popen[bytes]":
        """`gristmill run`, the same command each time."""
        folder = self.place.folder
        settings = [
            word
            for setting in (*SETTINGS, "task.engine.records_per_second=500")
            for word in ("--set", setting)
        ]
        path = os.pathsep.join(filter(None, (str(JOURNAL), os.environ.get("PYTHONPATH"))))
        self.going = subprocess.Popen(
            [
                sys.executable, "-m", "gristmill", "run", str(SELFTEST), "--run-id", "r",
                "--input", "in", "--output", "out", "--workers", str(workers), *settings,
            ],
            cwd=folder,
            stdout=subprocess.PIPE,  # its end is the launcher's end
            stderr=(folder / "stderr").open("wb"),
            env=os.environ | {"PYTHONPATH": path, "CHAOS_JOURNAL": str(folder / "journal")},
            start_new_session=True,
        )  # fmt: skip
        return self.going

    def events(self) -> Iterator[Event]:
        """What engines say, until the launcher has ended."""
        assert self.going is not None
        assert self.going.stdout is not None
        ended = self.going.stdout.fileno()
        while True:
            ready, _, _ = select.select([self.journal, ended], [], [], 60)
            assert ready, "nothing happens any more"
            if self.journal not in ready:
                return
            yield from self._read()

    def after(self, count: int) -> Event | None:
        """The event so many from now; None when the launcher ended before."""
        for number, event in enumerate(self.events(), 1):
            if number == count:
                return event
        return None

    def kill(self, *processes: psutil.Process) -> None:
        for process in processes:
            process.kill()
        psutil.wait_procs(processes)

    def kill_all(self) -> None:
        """The launcher and its workers, in one moment."""
        workers = self.workers()
        self.killed += len(workers)
        self.kill(self.launcher, *workers)
        self.collect()

    @property
    def launcher(self) -> psutil.Process:
        assert self.going is not None
        return psutil.Process(self.going.pid)

    def workers(self) -> list[psutil.Process]:
        children: list[psutil.Process] = self.launcher.children(recursive=True)
        return children

    def finish(self) -> int:
        """Let it go to its end: its exit code."""
        assert self.going is not None
        for _ in self.events():
            pass
        code = self.going.wait()
        self.collect()
        return code

    def collect(self) -> None:
        """Count what the dead said last."""
        assert self.going is not None
        self.going.wait()
        assert self.going.stdout is not None
        self.going.stdout.close()
        while select.select([self.journal], [], [], 0)[0]:
            for _ in self._read():
                pass

    def stderr(self) -> str:
        return (self.place.folder / "stderr").read_text()

    def _read(self) -> Iterator[Event]:
        *lines, self._unread = (self._unread + os.read(self.journal, 65536)).split(b"\n")
        events = []
        for line in lines:
            pid, what, records = line.split()
            events.append(Event(int(pid), what.decode(), int(records)))
        self.inferred += sum(event.records for event in events if event.what == "end")
        yield from events


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of a run that nothing disturbs."""
    place = FolderRun(tmp_path_factory.mktemp("undisturbed"))
    place.put("a.jsonl", TEXTS)
    assert place.go(*SETTINGS).state == "finished"
    return place.results()


@pytest.fixture
def chaos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chaos]:
    monkeypatch.delenv("GRISTMILL_RUNS", raising=False)
    place = FolderRun(tmp_path)
    place.put("a.jsonl", TEXTS)
    os.mkfifo(tmp_path / "journal")
    # Opened for both, so that it is never without a reader or at its end.
    journal = os.open(tmp_path / "journal", os.O_RDWR)
    made = Chaos(place, journal)
    yield made
    if made.going is not None and made.going.poll() is None:
        made.kill_all()
    os.close(journal)
