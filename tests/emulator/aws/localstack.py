"""LocalStack on this machine, without containers: an interpreter, an environment, a process."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
LOCK = ROOT / "requirements" / "localstack.lock"
VENV = ROOT / "build" / "localstack"
SERVICES = ("batch", "budgets", "ecr", "ecs", "autoscaling")
START_SECONDS = 90


class MissingToolError(Exception):
    """What the emulator needs is not on this machine. The message names it."""


def interpreter() -> list[str]:
    """The command of a Python of 3.13 or newer, found by trying names."""
    for minor in (13, 14):
        for command in ([f"python3.{minor}"], *_managed(minor)):
            try:
                done = subprocess.run(
                    [*command, "-c", "import ensurepip"], capture_output=True, check=False
                )
            except FileNotFoundError:
                continue
            if done.returncode == 0:
                return command
    raise MissingToolError("no Python of 3.13 or newer")


def _managed(minor: int) -> list[list[str]]:
    """Versions that pyenv has and does not put on the path."""
    if shutil.which("pyenv") is None:
        return []
    listed = subprocess.run(
        ["pyenv", "versions", "--bare"], capture_output=True, text=True, check=False
    )
    names = [name.strip() for name in listed.stdout.split() if name.startswith(f"3.{minor}.")]
    return [["env", f"PYENV_VERSION={name}", f"python3.{minor}"] for name in names]


def environment() -> Path:
    """An interpreter with LocalStack; made once, and again when the lock has changed."""
    python, stamp = VENV / "bin" / "python", VENV / ".lock"
    if stamp.exists() and stamp.read_text() == LOCK.read_text():
        return python
    shutil.rmtree(VENV, ignore_errors=True)
    subprocess.run([*interpreter(), "-m", "venv", str(VENV)], check=True)
    said = ""
    for installer in _installers(python):
        done = subprocess.run(
            [*installer, "--quiet", "--no-deps", "-r", str(LOCK)],
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stderr
        if done.returncode == 0:
            break
    else:
        raise MissingToolError(f"LocalStack can't be installed: {said[-400:]}")
    stamp.write_text(LOCK.read_text())
    return python


def _installers(python: Path) -> list[list[str]]:
    """uv where the tests' own environment has it, for pip takes minutes; then pip, which knows of
    indexes that uv does not."""
    uv = Path(sys.executable).parent / "uv"
    pip = [str(python), "-m", "pip", "install"]
    return [[str(uv), "pip", "install", "--python", str(python)], pip] if uv.exists() else [pip]


@contextmanager
def localstack(folder: Path) -> Iterator[str]:
    """URL of a running LocalStack. `folder/calls.jsonl` will have a line for each call."""
    python = environment()
    plugin = folder / "plugin"
    _write_plugin(plugin)
    port = _free_port()
    log = folder / "localstack.log"
    variables = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTHON", "VIRTUAL"))},
        "PYTHONPATH": str(plugin),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "FILESYSTEM_ROOT": str(folder / "root"),
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "DNS_ADDRESS": "0",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "DISABLE_EVENTS": "1",
        "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
        "RECORDED_CALLS": str(folder / "calls.jsonl"),
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(python), "-m", "localstack.runtime.main"],
            env=variables,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _write_plugin(plugin: Path) -> None:
    info = plugin / "moto_services-1.dist-info"
    info.mkdir(parents=True)
    shutil.copy(HERE / "moto_services.py", plugin)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moto-services\nVersion: 1\n")
    shutil.copy(HERE / "recorded_calls.py", plugin)
    points = [f"{name}:default = moto_services:{name}" for name in SERVICES]
    hook = ["[localstack.hooks.on_infra_start]", "record = recorded_calls:record"]
    (info / "entry_points.txt").write_text(
        "\n".join(["[localstack.aws.provider]", *points, "", *hook, ""])
    )


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"LocalStack ended at once:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{url}/_localstack/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise RuntimeError(f"LocalStack did not start in {START_SECONDS} s:\n{log.read_text()[-2000:]}")
