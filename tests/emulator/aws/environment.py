"""Python environments for emulators, apart from the project's own."""

import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[3]


class MissingToolError(Exception):
    """What an emulator needs is not on this machine. The message names it."""


def environment(venv: Path, lock: Path, interpreter: list[str]) -> Path:
    """An interpreter with what the lock names; made once, and again when the lock has changed.
    Two test processes may ask at once: one makes it, the other waits."""
    venv.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(venv.with_suffix(".making")):
        return _made(venv, lock, interpreter)


def _made(venv: Path, lock: Path, interpreter: list[str]) -> Path:
    python, stamp = venv / "bin" / "python", venv / ".lock"
    if stamp.exists() and stamp.read_text() == lock.read_text():
        return python
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([*interpreter, "-m", "venv", str(venv)], check=True)
    said = ""
    for installer in _installers(python):
        done = subprocess.run(
            [*installer, "--quiet", "--no-deps", "-r", str(lock)],
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stderr
        if done.returncode == 0:
            break
    else:
        raise MissingToolError(f"{lock.name} can't be installed: {said[-400:]}")
    stamp.write_text(lock.read_text())
    return python


def _installers(python: Path) -> list[list[str]]:
    """uv where the tests' own environment has it, for pip takes minutes; then pip, which knows of
    indexes that uv does not."""
    uv = Path(sys.executable).parent / "uv"
    pip = [str(python), "-m", "pip", "install"]
    return [[str(uv), "pip", "install", "--python", str(python)], pip] if uv.exists() else [pip]
