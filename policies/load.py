"""The gate's own YAML files -> models."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from policies.finding import CannotJudgeError

Model = TypeVar("Model", bound=BaseModel)


def load(path: Path, model: type[Model]) -> tuple[Model, str]:
    """And the text, for its lines. Raises CannotJudgeError with one line per fault."""
    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.load(text, Loader=_Plain)  # noqa: S506 - a SafeLoader
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CannotJudgeError(f"{path}: can't be read ({error})") from None
    if not isinstance(tree, dict):
        raise CannotJudgeError(f"{path}: must be a mapping that begins with version: 1")
    try:
        return model.model_validate(tree), text
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(str(part) for part in fault['loc'])}: "
            f"{fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        ]
        raise CannotJudgeError("\n".join(lines)) from None


class _Plain(yaml.SafeLoader):
    """What a reviewer sees is what holds: no key given twice, nothing merged in from elsewhere."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names = [key.value for key, _ in node.value]
        for name in names:
            if name == "<<" or names.count(name) > 1:
                what = "merges another mapping" if name == "<<" else f"gives {name!r} twice"
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: {what}")
        return super().construct_mapping(node, deep)
