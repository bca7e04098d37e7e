import json
from pathlib import Path
from typing import Any

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.contract.task import Kind
from gristmill.engines.head import check_head

CLASSIFIER = {"architectures": ["BertForSequenceClassification"]}


def _labels(*labels: str) -> dict[str, Any]:
    return {**CLASSIFIER, "id2label": {str(i): label for i, label in enumerate(labels)}}


def _save(folder: Path, **files: Any) -> Path:
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("embed", {"modules": []}),
        ("embed", {"modules": [], "config_sentence_transformers": {}}),
        (
            "embed",
            {"modules": [], "config_sentence_transformers": {"model_type": "SentenceTransformer"}},
        ),
        ("score", {"config": _labels("relevance")}),
        ("classify", {"config": CLASSIFIER}),
        ("classify", {"config": _labels("a", "b", "c")}),
    ],
)
def test_a_model_made_for_the_task_passes(
    kind: Kind, files: dict[str, Any], tmp_path: Path
) -> None:
    check_head(kind, _save(tmp_path, **files))


@pytest.mark.parametrize(
    ("kind", "files", "said"),
    [
        ("embed", {"config": CLASSIFIER}, "no modules.json"),
        (
            "embed",
            {"modules": [], "config_sentence_transformers": {"model_type": "CrossEncoder"}},
            "is a CrossEncoder",
        ),
        ("score", {"config": {"architectures": ["BertModel"]}}, "is BertModel"),
        ("score", {"config": {}}, "is no architecture"),
        ("score", {"modules": []}, "is no architecture"),
        ("score", {"config": CLASSIFIER}, "has 2 labels; score needs one"),
        ("score", {"config": _labels("a", "b", "c")}, "set task.kind classify"),
        ("classify", {"config": _labels("relevance")}, "set task.kind score"),
        (
            "classify",
            {"config": {**_labels("a", "b"), "problem_type": "multi_label_classification"}},
            "several labels",
        ),
        ("score", {"config": ["a list"]}, "not a JSON object"),
    ],
)
def test_a_model_made_for_something_else_is_refused(
    kind: Kind, files: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_head(kind, _save(tmp_path, **files))
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_damaged_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ConfigError, match=r"config\.json can't be read as JSON"):
        check_head("score", tmp_path)
