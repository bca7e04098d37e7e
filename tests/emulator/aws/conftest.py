"""One exercise a session; skipped, with the reason kept for the gate, where a tool is missing."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.emulator.aws.apps import BLUEPRINT, CLOSED, REGION, apps, client, edits
from tests.emulator.aws.environment import ROOT
from tests.emulator.aws.exercise import Deployed, Exercise, Trial, exercise
from tests.emulator.aws.tools import found_tools

EXERCISED = ("test_apply.py", "test_least_privilege.py")
"""Files whose tests look at the exercise."""
REPORT = ROOT / "build" / "emulator.txt"
LINES = '{"title": "a", "body": "b", "id": "1"}\n{"title": "c", "body": "d", "id": "2"}\n'


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The one long exercise in one test process, every other file beside it. Marks can't say so:
    xdist 3.8 writes them where pytest 9.2 reads no more."""
    from xdist.scheduler import LoadScopeScheduling

    class OneExercise(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = Path(nodeid.partition("::")[0]).name
            return "exercise" if file in EXERCISED else file

    return OneExercise(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    for item in session.items:
        if "exercised" in getattr(item, "fixturenames", ()):
            assert item.path.name in EXERCISED, f"{item.path.name}: add it to EXERCISED"


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
