"""One exercise a session; skipped, with the reason kept for the gate, where a tool is missing."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gristmill.contract.load import load_blueprint
from infra.team import resolve
from tests.emulator.aws.exercise import Exercise, exercise
from tests.emulator.aws.localstack import ROOT, MissingToolError, environment
from tests.emulator.aws.terraform import ACCOUNT, find_mirror
from tests.unit.infra.choices import maximal_platform

BLUEPRINT = ROOT / "blueprints" / "embed-corpus" / "blueprint.yaml"
REPORT = ROOT / "build" / "emulator.txt"
SETTINGS: dict[str, Any] = {"state": {"kind": "local"}, "existing_buckets": {}}
LINES = '{"title": "a", "body": "b", "id": "1"}\n{"title": "c", "body": "d", "id": "2"}\n'


@pytest.fixture(scope="session")
def exercised(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    REPORT.parent.mkdir(exist_ok=True)
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    try:
        mirror = find_mirror()
        if endpoint is None:
            environment()
    except MissingToolError as missing:
        REPORT.write_text(f"emulator: NOT RUN ({missing})\n")
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("aws")
    seen = exercise(
        folder,
        mirror,
        _synthesis(),
        {
            "more-workers": _synthesis("capacity.max_workers=80"),
            "another-gpu": _synthesis("capacity.gpus=[L40S]"),
            "another-team": _synthesis("team=ranking"),
            "fewer-attempts": _synthesis("capacity.attempts=3"),
        },
        _seed,
        lambda url: _work(folder, url),
        endpoint,
    )
    REPORT.write_text(
        f"emulator: {len(seen.resources)} resources applied, "
        f"{len(seen.resources) - len(seen.again)} planned again without drift, destroyed\n"
    )
    return seen


def _synthesis(*overrides: str) -> Callable[[Path], None]:
    def synthesize(out: Path) -> None:
        from infra.main import synthesize as write

        platform = maximal_platform(**SETTINGS)
        blueprint = load_blueprint(BLUEPRINT, overrides)
        write(platform, resolve(platform, [(str(BLUEPRINT), blueprint)]), out)

    return synthesize


def _seed(url: str) -> None:
    import boto3

    keys = {"aws_access_key_id": ACCOUNT, "aws_secret_access_key": "test"}
    client: Any = boto3.client("s3", endpoint_url=url, region_name="us-east-1", **keys)
    client.put_object(Bucket="your-corpus", Key="in/a.jsonl", Body=LINES)


def _work(folder: Path, url: str) -> None:
    """A run by the code that jobs run, over the deployed buckets, on this machine."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gristmill", "run", str(BLUEPRINT)),
            *("--runs", f"s3://embed-corpus-runs-{ACCOUNT}-us-east-1/runs"),
            *("--set", "task={kind: transform, engine: {kind: echo}}"),
        ],
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("AWS_")},
            "PYTHONPATH": str(ROOT / "worker"),
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "NO_PROXY": "127.0.0.1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
