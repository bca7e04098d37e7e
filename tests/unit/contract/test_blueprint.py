from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from gristmill.contract.blueprint import json_schema
from tests.doubles.mill import blueprint

SHIPPED = sorted(Path("blueprints").glob("*/blueprint.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_every_shipped_blueprint_satisfies_the_schema(path: Path) -> None:
    jsonschema.validate(yaml.safe_load(path.read_text()), json_schema())


def test_the_schema_is_a_valid_one_and_knows_every_section() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {"task", "input", "output", "errors", "capacity"} <= set(schema["properties"])


def test_an_absent_section_is_off() -> None:
    plain = blueprint()
    assert plain.deadline is None
    assert plain.budget is None
    assert plain.schedule is None
    assert plain.capacity.spot is None


def test_a_blueprint_can_not_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        blueprint().seed = 1  # type: ignore[misc]
