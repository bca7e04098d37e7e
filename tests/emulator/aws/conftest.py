"""One exercise a session; skipped, with the reason kept for the gate, where a tool is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulator.aws.apps import BLUEPRINT, CLOSED, REGION, apps, client, edits
from tests.emulator.aws.environment import ROOT
from tests.emulator.aws.exercise import Deployed, Exercise, Trial, exercise
from tests.emulator.aws.tools import found_tools

HERE = Path(__file__).parent
REPORT = ROOT / "build" / "emulator.txt"
LINES = '{"title": "a", "body": "b", "id": "1"}\n{"title": "c", "body": "d", "id": "2"}\n'


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The one long exercise in one test process, every other file beside it."""
    for item in items:
        if HERE in item.path.parents:
            long = "exercised" in getattr(item, "fixturenames", ())
            item.add_marker(pytest.mark.xdist_group("exercised" if long else item.path.stem))


@pytest.fixture(scope="session")
def exercised(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    mirror = found_tools(REPORT, endpoint)
    folder = tmp_path_factory.mktemp("aws")
    trial = Trial(_seed, lambda url: _work(folder, url), "embed-corpus-compute", edits())
    seen = exercise(folder, mirror, apps(), trial, endpoint)
    REPORT.write_text(f"{seen}\n")
    return seen


@pytest.fixture(scope="session")
def main(exercised: Exercise) -> Deployed:
    """The platform of two teams."""
    return exercised.apps["gristmill"]


def _seed(url: str) -> None:
    client("s3", CLOSED, url).put_object(Bucket="your-corpus", Key="in/a.jsonl", Body=LINES)


def _work(folder: Path, url: str) -> None:
    """A run by the code that jobs run, over the deployed buckets, on this machine."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gristmill", "run", str(BLUEPRINT)),
            *("--runs", f"s3://embed-corpus-runs-{CLOSED}-{REGION}/runs"),
            *("--set", "task={kind: transform, engine: {kind: echo}}"),
        ],
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("AWS_")},
            "PYTHONPATH": str(ROOT / "worker"),
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": CLOSED,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "NO_PROXY": "127.0.0.1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
