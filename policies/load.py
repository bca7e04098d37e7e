"""The gate's own YAML files -> models."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from policies.finding import CannotJudgeError

Model = TypeVar("Model", bound=BaseModel)


def load(path: Path, model: type[Model]) -> tuple[Model, str]:
    """And the text, for its lines. Raises CannotJudgeError with one line per fault."""
    try:
        text = path.read_text(encoding="utf-8")
        return model.model_validate(yaml.safe_load(text)), text
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CannotJudgeError(f"{path}: can't be read ({error})") from None
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(str(part) for part in fault['loc'])}: "
            f"{fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        ]
        raise CannotJudgeError("\n".join(lines)) from None
