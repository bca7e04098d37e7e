"""ministack on this machine: it asks IAM at every call, conditions included."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.emulator.aws.environment import ROOT, environment
from tests.emulator.aws.server import free_port, serving

LOCK = ROOT / "requirements" / "ministack.lock"
VENV = ROOT / "build" / "ministack"
ROOT_KEY = "test"
"""Whose key this is may do anything."""


@contextmanager
def ministack(folder: Path, account: str) -> Iterator[str]:
    """URL of a running one, with nothing in it."""
    python = environment(VENV, LOCK, [sys.executable])
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    variables = {
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": ROOT_KEY,
        "AWS_SECRET_ACCESS_KEY": ROOT_KEY,
        "MINISTACK_ACCOUNT_ID": account,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "STATE_DIR": str(folder / "state"),
        "S3_DATA_DIR": str(folder / "s3"),
    }
    with serving([str(python), "-m", "ministack"], variables, folder, url, "/_localstack/health"):
        yield url
