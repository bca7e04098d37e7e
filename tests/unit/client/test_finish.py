from pathlib import Path

import pytest

from gristmill.client.finish import finish, verify
from gristmill.contract import layout
from gristmill.contract.errors import StorageError
from gristmill.contract.run import Policy
from tests.doubles.folder_run import FolderRun


def test_a_run_is_finished_once_and_only_when_its_manifests_are_whole(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    place.put("a.jsonl", [f"text {n}" for n in range(100)])
    run = place.open("part.records=20")
    place.work(run)
    policy = Policy.of(run.spec.blueprint)
    first = finish(run, policy).manifest
    assert first is not None
    assert first.counts.records == 100
    assert finish(run, policy).manifest == first

    told: list[int] = []
    assert verify(run, progress=told.append).gaps == []
    assert told == [1]

    folder = tmp_path / "runs/r"
    (folder / layout.MANIFEST).unlink()
    assert finish(run, policy).manifest == first

    (folder / layout.MANIFEST).unlink()
    (folder / layout.part_manifest(0, 2)).unlink()
    with pytest.raises(
        StorageError,
        match=r"run r is not complete .*: 1 gaps, the first: shard 0 part 2: has no manifest",
    ):
        finish(run, policy)
    assert not (folder / layout.MANIFEST).exists()
