"""A server on this machine, for as long as a test needs it."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 90


@contextmanager
def serving(
    command: list[str], variables: Mapping[str, str], folder: Path, url: str, ready: str
) -> Iterator[None]:
    """`ready`: a path that is answered once the server has started."""
    log = folder / "server.log"
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTHON", "VIRTUAL"))}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env={**clean, **variables}, stdout=out, stderr=subprocess.STDOUT, cwd=folder
        )
    try:
        _wait_until_ready(f"{url}{ready}", process, log)
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise RuntimeError(f"no answer in {START_SECONDS} s:\n{log.read_text()[-2000:]}")
