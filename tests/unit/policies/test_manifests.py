from pathlib import Path

import pytest

from policies.finding import CannotJudgeError, Place
from policies.manifests import manifests


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / "kubernetes").mkdir()
    (tmp_path / "kubernetes" / "worker.yaml").write_text(text)
    return tmp_path / "blueprint.yaml"


def test_each_object_is_a_resource_with_its_line(tmp_path: Path) -> None:
    text = "kind: ConfigMap\nmetadata: {name: a}\n---\n---\nkind: Job\nmetadata: {name: b}\n"
    found = manifests(folder(tmp_path, text), "team-kubernetes")
    assert found is not None
    named = found.tree["resource"]["kubernetes_manifest"]
    assert [conf["manifest"]["kind"] for conf in named.values()] == ["ConfigMap", "Job"]
    file = str(tmp_path / "kubernetes" / "worker.yaml")
    assert found.origins == {
        "team-kubernetes/worker.yaml/ConfigMap.a": (Place(file, 1),),
        "team-kubernetes/worker.yaml/Job.b": (Place(file, 5),),
    }


def test_without_manifests_there_is_no_stack(tmp_path: Path) -> None:
    assert manifests(tmp_path / "blueprint.yaml", "x") is None


@pytest.mark.parametrize("text", ["kind: [", "- 1\n", "a: {{ value }}\n"])
def test_what_is_no_manifest_cannot_be_judged(text: str, tmp_path: Path) -> None:
    with pytest.raises(CannotJudgeError, match=r"worker\.yaml"):
        manifests(folder(tmp_path, text), "x")
