"""A disk that is full, read-only, or loses a file under a running job."""

import subprocess
import sys
from pathlib import Path

import pytest

from gristmill.client.finish import verify
from gristmill.contract import layout
from gristmill.contract.process import ExitCode
from tests.doubles.folder_run import SELFTEST, FolderRun

pytestmark = pytest.mark.chaos

TEXTS = [f"record number {index}" for index in range(4000)]
RUN = (
    f"{sys.executable} -m gristmill run {SELFTEST} --run-id r --input in --output out "
    "--set part.records=100 --set shard.bytes=20KB"
)
NAMESPACE = ("unshare", "-Urm")
"""What is mounted in it ends with it."""
FIRST_PART = "while ! ls runs/r/shards/*/parts/* >/dev/null 2>&1; do sleep 0.02; done"


@pytest.fixture
def place(tmp_path: Path) -> FolderRun:
    made = FolderRun(tmp_path)
    made.put("a.jsonl", TEXTS)
    (tmp_path / "runs").mkdir()
    return made


@pytest.fixture(scope="module")
def mounts() -> None:
    """Mounting takes a namespace of one's own, which some hosts refuse."""
    tried = subprocess.run(
        [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip(f"this host lets nobody mount: {tried.stderr.strip()}")


def in_shell(place: FolderRun, script: str, within: tuple[str, ...] = ()) -> tuple[list[int], str]:
    """(exit codes that it echoed, what was said)."""
    done = subprocess.run(
        [*within, "bash", "-c", script],
        cwd=place.folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    codes = [int(line[5:]) for line in done.stdout.splitlines() if line.startswith("code ")]
    return codes, done.stderr


@pytest.mark.usefixtures("mounts")
def test_a_full_disk_is_named_and_once_there_is_room_the_run_goes_on(place: FolderRun) -> None:
    codes, said = in_shell(
        place,
        "mount -t tmpfs -o size=400k tmpfs runs\n"
        f"{RUN}; echo code $?\n"
        "mount -o remount,size=100m runs\n"
        f"{RUN}; echo code $?\n"
        f"{sys.executable} -m gristmill verify r --deep; echo code $?",
        NAMESPACE,
    )
    assert codes == [ExitCode.STORAGE, ExitCode.DONE, ExitCode.DONE], said
    assert "no space left" in said
    assert "Traceback" not in said
    assert place.texts() == TEXTS


@pytest.mark.usefixtures("mounts")
def test_a_disk_that_turns_read_only_ends_the_run_and_afterwards_it_goes_on(
    place: FolderRun,
) -> None:
    codes, said = in_shell(
        place,
        "mount -t tmpfs -o size=100m tmpfs runs\n"
        f"({FIRST_PART}; while ! mount -o remount,ro runs 2>/dev/null; do sleep 0.01; done) &\n"
        f"{RUN} --set task.engine.records_per_second=500; echo code $?\n"
        "wait\n"
        "mount -o remount,rw runs\n"
        f"{RUN} --set task.engine.records_per_second=500 --workers 2; echo code $?\n"
        f"{sys.executable} -m gristmill verify r --deep; echo code $?",
        NAMESPACE,
    )
    assert codes == [ExitCode.PERMISSION, ExitCode.DONE, ExitCode.DONE], said
    assert "Read-only" in said or "read-only" in said
    assert "Traceback" not in said
    assert place.texts() == TEXTS


def test_data_deleted_under_a_running_job_is_named_and_can_be_made_again(place: FolderRun) -> None:
    settings = ("part.records=100", "shard.bytes=1MB", "task.engine.records_per_second=2000")
    run = place.open(*settings)
    script = (
        f"({FIRST_PART}; rm runs/r/shards/000000/data/*) &\n"
        f"{sys.executable} -m gristmill resume r; echo code $?; wait"
    )
    codes, said = in_shell(place, script)
    assert codes == [ExitCode.STORAGE], said
    assert "was deleted; delete its part manifest and resume" in said
    folder = place.folder / "runs/r"
    kept = {path.name[:6] for path in (folder / "shards/000000/data").iterdir()}
    for manifest in (folder / layout.parts_prefix(0)).iterdir():
        if manifest.stem not in kept:
            manifest.unlink()
    assert place.work(run).state == "finished"
    assert place.texts() == TEXTS
    assert verify(run, deep=True).gaps == []


def test_an_input_deleted_under_a_running_job_is_named(place: FolderRun) -> None:
    settings = ("part.records=100", "shard.bytes=20KB", "task.engine.records_per_second=2000")
    place.open(*settings)
    codes, said = in_shell(
        place,
        f"({FIRST_PART}; rm in/a.jsonl) &\n"
        f"{sys.executable} -m gristmill resume r; echo code $?; wait",
    )
    assert codes == [ExitCode.STORAGE], said
    assert "in/a.jsonl" in said
    assert "Traceback" not in said
