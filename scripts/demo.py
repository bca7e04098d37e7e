"""The demo: a real corpus through a real model, then the same once more, killed and resumed.

    python scripts/demo.py

Everything it makes lies in build/demo, which it empties first. Exits 1 when the two outputs differ.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from gristmill.client.plan import find_run
from gristmill.client.state import read_state
from gristmill.contract.errors import GristmillError

ROOT: Final = Path(__file__).resolve().parents[1]
TEXTS: Final = 5000
KILL_AT: Final = 0.4
"""Share of the records that are published when the second run is killed."""
POLL_SECONDS: Final = 0.1
# Three processes load torch. Where byte code is not kept, each would compile it for half a minute.
ENVIRONMENT: Final = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


class DemoError(Exception):
    """The demo could not show what it is for; the message says why."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What is run, and where."""

    folder: Path
    blueprint: str
    texts: int
    settings: tuple[str, ...] = ()
    """As for `--set`."""

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus.jsonl"

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def results(self, run: str) -> Path:
        return self.folder / "results" / run

    def command(self, run: str) -> list[str]:
        command = ["run", self.blueprint, "--input", _short(self.corpus)]
        command += ["--output", _short(self.results(run)), "--run-id", run]
        command += ["--runs", _short(self.runs)]
        for setting in self.settings:
            command += ["--set", setting]
        return command


def main() -> int:
    demo = Demo(ROOT / "build" / "demo", "blueprints/embed-quickstart", TEXTS)
    began = time.monotonic()
    try:
        same = play(demo)
    except DemoError as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1
    _tell_more(demo)
    print(f"\nThe demo took {time.monotonic() - began:.0f} s.")
    return 0 if same else 1


def play(demo: Demo) -> bool:
    """Whether both outputs have the same bytes."""
    shutil.rmtree(demo.folder, ignore_errors=True)
    _say("1. A corpus: the docstrings of Python's standard library")
    count = build_corpus(demo)
    print(f"{count:,} texts, {demo.corpus.stat().st_size / 1e6:.1f} MB in {_short(demo.corpus)}")

    _say("2. All of it through the model")
    gristmill(*demo.command("whole"))

    _say("3. The same again, killed with SIGKILL in the middle")
    published = run_and_kill(demo, "killed", round(count * KILL_AT))
    print(f"killed: launcher and workers. {published:,} of {count:,} records are published.")

    _say("4. Resumed, and proved complete")
    gristmill("resume", _short(demo.runs / "killed"))
    gristmill("verify", _short(demo.runs / "killed"), "--deep")

    _say("5. Both outputs, byte for byte")
    return compare(demo.results("whole"), demo.results("killed"))


def build_corpus(demo: Demo) -> int:
    """The first texts of the corpus; how many they are."""
    every = demo.folder / "every-text.jsonl"
    script = str(ROOT / "scripts" / "corpus.py")
    _check([sys.executable, script, str(every)], stdout=subprocess.DEVNULL)
    lines = every.read_bytes().splitlines(keepends=True)[: demo.texts]
    demo.corpus.write_bytes(b"".join(lines))
    every.unlink()
    return len(lines)


def gristmill(*arguments: str) -> None:
    """One command, shown and run to its end."""
    print(f"$ gristmill {' '.join(arguments)}")
    _check([sys.executable, "-m", "gristmill", *arguments])


def run_and_kill(demo: Demo, run: str, records: int) -> int:
    """Start a run and kill all its processes once `records` are published; how many are then."""
    arguments = demo.command(run)
    print(f"$ gristmill {' '.join(arguments)}")
    log = demo.folder / "killed.log"
    with log.open("wb") as stderr:
        launcher = subprocess.Popen(
            [sys.executable, "-m", "gristmill", *arguments],
            cwd=ROOT,
            env=ENVIRONMENT,
            stderr=stderr,
        )
        try:
            _wait(lambda: _published(demo, run)[0] >= records, launcher, log)
        finally:
            kill_tree(launcher.pid)
            launcher.wait()
    published, finished = _published(demo, run)
    if finished or published >= demo.texts:
        raise DemoError("the kill came too late: everything was published already")
    return published


def kill_tree(pid: int) -> None:
    """SIGKILL to a process and all that it started. The parent is stopped first, so that nobody
    hears of the deaths and cleans up."""
    try:
        parent = psutil.Process(pid)
        parent.suspend()
        victims = [*parent.children(recursive=True), parent]
    except psutil.NoSuchProcess:
        return
    for victim in victims:
        try:
            victim.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(victims[:-1], timeout=10)


def compare(first: Path, second: Path) -> bool:
    """Print each file with its digest; whether all are the same."""
    digests = [
        {path.relative_to(folder).as_posix(): _sha256(path) for path in _files(folder)}
        for folder in (first, second)
    ]
    names = sorted(digests[0].keys() | digests[1].keys())
    same = bool(names)
    for name in names:
        one, other = (digest.get(name) for digest in digests)
        same = same and one == other
        size = (first if one else second).joinpath(name).stat().st_size
        verdict = "same bytes" if one == other else "DIFFERENT"
        print(f"  {name}  {size:>10,} bytes  sha256 {(one or other or '')[:16]}…  {verdict}")
    print(
        "SAME BYTES: the kill left no trace in the results."
        if same
        else f"DIFFERENT: {_short(first)} and {_short(second)} should hold the same bytes."
    )
    return same


def _tell_more(demo: Demo) -> None:
    run = _short(demo.runs / "killed")
    _say("Look around")
    print(
        f".venv/bin/gristmill results {run} --head 3       the first results\n"
        f".venv/bin/gristmill status {run}                 how the run went\n"
        f".venv/bin/gristmill verify {run} --deep          the proof\n"
        f'.venv/bin/python -c "import pyarrow.parquet as p; '
        f"print(p.read_table('{_short(demo.results('killed'))}'))\"\n"
        "docs/tutorials/laptop.md                                      your first own run"
    )


def _published(demo: Demo, run: str) -> tuple[int, bool]:
    """(records published so far, whether the run is finished)."""
    try:
        state = read_state(find_run(run, str(demo.runs)).store)
    except GristmillError:  # not planned yet
        return 0, False
    return state.counts.records, state.manifest is not None


def _wait(reached: Callable[[], bool], launcher: "subprocess.Popen[bytes]", log: Path) -> None:
    while not reached():
        if launcher.poll() is not None:
            raise DemoError(
                f"the run ended by itself, with exit {launcher.returncode}, before it could be "
                f"killed; {_short(log)} has its words:\n{log.read_text()}"
            )
        time.sleep(POLL_SECONDS)


def _check(command: list[str], stdout: int | None = None) -> None:
    sys.stdout.flush()
    code = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=False, stdout=stdout).returncode
    if code:
        raise DemoError(f"`{' '.join(command[2:])}` ended with exit {code}")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _short(path: Path) -> str:
    """As one would type it in the checkout."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _say(headline: str) -> None:
    print(f"\n\N{EM DASH}\N{EM DASH} {headline}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
