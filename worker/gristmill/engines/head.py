"""What a model folder yields, read from its configuration before any weight is loaded."""

import json
from pathlib import Path
from typing import Any, Final

from gristmill.contract.errors import ConfigError
from gristmill.contract.task import Kind

_CLASSIFIER: Final = "ForSequenceClassification"


def check_head(kind: Kind, folder: Path) -> None:
    """Raises ConfigError when the model yields something else than the task wants.

    The libraries would load it all the same, with random weights where it has none.
    """
    if kind == "embed":
        _check_embeds(folder)
    else:
        _check_classifies(kind, folder)


def _check_embeds(folder: Path) -> None:
    if not (folder / "modules.json").is_file():
        raise _refused(
            folder,
            "has no modules.json, which says how tokens become one vector",
            "embed needs a folder that SentenceTransformer.save_pretrained wrote",
        )
    settings = folder / "config_sentence_transformers.json"
    made_for = _read(settings).get("model_type") if settings.is_file() else None
    if made_for not in (None, "SentenceTransformer"):
        raise _refused(folder, f"is a {made_for}", "embed needs a SentenceTransformer")


def _check_classifies(kind: Kind, folder: Path) -> None:
    config = _read(folder / "config.json") if (folder / "config.json").is_file() else {}
    names = config.get("architectures") or ["no architecture"]
    if not names[0].endswith(_CLASSIFIER):
        raise _refused(folder, f"is {names[0]}", f"{kind} needs a …{_CLASSIFIER}")
    labels = len(config.get("id2label") or ()) or config.get("num_labels", 2)
    if kind == "score" and labels != 1:
        raise _refused(folder, f"has {labels} labels", "score needs one; set task.kind classify")
    if kind == "classify" and labels < 2:
        raise _refused(folder, "has one output", "classify needs labels; set task.kind score")
    if config.get("problem_type") == "multi_label_classification":
        raise _refused(folder, "gives several labels to a text", "classify gives one")


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _refused(
            path, f"can't be read as JSON ({type(error).__name__})", "save it again"
        ) from None
    if not isinstance(value, dict):
        raise _refused(path, "is not a JSON object", "save the model again")
    return value


def _refused(place: Path, came: str, wanted: str) -> ConfigError:
    return ConfigError(f"task.engine.model: {place} {came}; {wanted}")
