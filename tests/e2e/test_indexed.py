"""Worker processes that are told nothing but the run, their number and how many they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

from gristmill.client.finish import verify
from gristmill.contract import process
from gristmill.contract.process import ExitCode
from tests.doubles.folder_run import FolderRun

WORKERS = 3
TEXTS = [f"record number {index}" for index in range(1200)]
SETTINGS = ("part.records=20", "shard.bytes=4KB", "task.engine.records_per_second=400")


def start(run: str, index: int) -> "subprocess.Popen[str]":
    env = {
        process.ENV_RUN: run,
        process.ENV_QUEUE: f"indexed:{WORKERS}",
        process.ENV_INDEX_KUBERNETES: str(index),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "gristmill", "worker"],
        env=os.environ | env,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_indexed_workers_finish_a_run_though_one_is_killed_and_started_again(
    tmp_path: Path,
) -> None:
    place = FolderRun(tmp_path)
    place.put("a.jsonl", TEXTS)
    run = place.open(*SETTINGS)
    workers = {index: start(run.store.uri, index) for index in range(WORKERS)}
    assert workers[0].stderr is not None
    for line in workers[0].stderr:
        if json.loads(line)["event"] == "part_published":
            break
    workers[0].kill()
    workers[0].communicate()
    workers[0] = start(run.store.uri, 0)
    said = {index: worker.communicate(timeout=60)[1] for index, worker in workers.items()}
    codes = {index: worker.returncode for index, worker in workers.items()}
    assert codes == dict.fromkeys(range(WORKERS), ExitCode.DONE), said
    verdict = verify(run, deep=True)
    assert verdict.gaps == []
    assert verdict.counts.records == len(TEXTS)
    assert place.texts() == TEXTS
    assert not (Path(run.store.uri) / "queue.sqlite").exists()


def test_a_worker_with_an_index_of_no_worker_names_the_variable_and_ends(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    place.put("a.jsonl", TEXTS[:1])
    worker = start(place.open(*SETTINGS).store.uri, 7)
    said = worker.communicate(timeout=60)[1]
    assert worker.returncode == ExitCode.CONFIG
    assert "JOB_COMPLETION_INDEX: got '7', must be 0 to 2" in said
