"""LocalStack on this machine, without containers: an interpreter, an environment, a process."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.emulator.aws.environment import ROOT, MissingToolError, environment
from tests.emulator.aws.server import free_port, serving

HERE = Path(__file__).parent
LOCK = ROOT / "requirements" / "localstack.lock"
VENV = ROOT / "build" / "localstack"
SERVICES = ("batch", "budgets", "ecr", "ecs", "autoscaling")


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


def python() -> Path:
    """An interpreter with LocalStack."""
    return environment(VENV, LOCK, interpreter())


@contextmanager
def localstack(folder: Path) -> Iterator[str]:
    """URL of a running LocalStack. `folder/calls.jsonl` will have a line for each call."""
    command = python()
    plugin = folder / "plugin"
    _write_plugin(plugin)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    variables = {
        "PYTHONPATH": str(plugin),
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "FILESYSTEM_ROOT": str(folder / "root"),
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "DNS_ADDRESS": "0",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "DISABLE_EVENTS": "1",
        "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
        "RECORDED_CALLS": str(folder / "calls.jsonl"),
    }
    main = [str(command), "-m", "localstack.runtime.main"]
    with serving(main, variables, folder, url, "/_localstack/health"):
        yield url


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
