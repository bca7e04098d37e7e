import json
from pathlib import Path

import pytest

from policies.finding import CannotJudgeError, Place
from policies.manifests import manifests


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / "kubernetes").mkdir()
    (tmp_path / "kubernetes" / "worker.yaml").write_text(text)
    return tmp_path / "blueprint.yaml"


def test_each_object_is_a_resource_with_its_line(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\n"
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: b, labels: {day: 2026-12-07}}\n"
    )
    found = manifests(folder(tmp_path, text), "team-kubernetes")
    assert found is not None
    named = found.tree["resource"]["kubernetes_manifest"]
    assert [conf["manifest"]["kind"] for conf in named.values()] == ["ConfigMap", "Job"]
    file = str(tmp_path / "kubernetes" / "worker.yaml")
    assert found.origins == {
        "team-kubernetes/worker.yaml/0-ConfigMap.a": (Place(file, 1),),
        "team-kubernetes/worker.yaml/1-Job.b": (Place(file, 6),),
    }
    assert json.loads(json.dumps(found.tree)) == found.tree


def test_without_manifests_there_is_no_stack(tmp_path: Path) -> None:
    assert manifests(tmp_path / "blueprint.yaml", "x") is None


def test_a_list_is_unfolded_and_folders_are_entered(tmp_path: Path) -> None:
    blueprint = folder(
        tmp_path,
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Pod, metadata: {generateName: a-}}\n"
        "- {apiVersion: v1, kind: Pod, metadata: {generateName: a-}}\n",
    )
    (tmp_path / "kubernetes" / "base").mkdir()
    below = tmp_path / "kubernetes" / "base" / "it.json"
    below.write_text('{"apiVersion": "v1", "kind": "Pod"}')
    (tmp_path / "kubernetes" / "README.md").write_text("what this is\n")
    found = manifests(blueprint, "x")
    assert found is not None
    assert list(found.origins) == [
        *("x/it.json/0-Pod.unnamed", "x/worker.yaml/1-Pod.a-", "x/worker.yaml/2-Pod.a-"),
    ]


@pytest.mark.parametrize("name", ["worker.yaml.tpl", "WORKER.YAML", "kustomize.sh"])
def test_a_file_that_nobody_would_read_cannot_be_judged(name: str, tmp_path: Path) -> None:
    blueprint = folder(tmp_path, "apiVersion: v1\nkind: Pod\n")
    (tmp_path / "kubernetes" / name).write_text("x")
    with pytest.raises(CannotJudgeError, match="put that there"):
        manifests(blueprint, "x")


@pytest.mark.parametrize(
    "text",
    [
        *("kind: [", "- 1\n", "a: {{ value }}\n", "kind: Pod\n", "kind:\napiVersion: v1\n"),
        *("kind: {a: b}\napiVersion: v1\n", "a: &a [*a]\n", "apiVersion: v1\nkind: List\n"),
        "a: !!binary aGVsbG8=\n",
    ],
)
def test_what_is_no_manifest_cannot_be_judged(text: str, tmp_path: Path) -> None:
    with pytest.raises(CannotJudgeError, match=r"worker\.yaml"):
        manifests(folder(tmp_path, text), "x")
