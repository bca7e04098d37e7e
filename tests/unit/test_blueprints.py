"""Every shipped blueprint: whole, valid, and its sample goes through."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from gristmill.client.check import check_blueprint
from gristmill.contract.blueprint import json_schema
from gristmill.contract.errors import ConfigError
from gristmill.contract.load import load_blueprint
from gristmill.contract.record import Record
from gristmill.formats.open import open_reader
from tests.doubles.memory_source import MemorySource

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "blueprints").glob("*/blueprint.yaml"))
NEEDS_A_MODEL = "score-pairs"

each = pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])


def test_the_five_blueprints_are_shipped() -> None:
    assert [folder.name for folder in FOLDERS] == [
        "embed-corpus",
        "embed-quickstart",
        "openai-batch-embeddings",
        "score-pairs",
        "selftest",
    ]


@each
def test_a_blueprint_is_valid_and_named_after_its_folder(folder: Path) -> None:
    blueprint = load_blueprint(folder)
    assert blueprint.name == folder.name
    own = "s3://your-corpus" if blueprint.capacity.gpus else str(folder)
    assert blueprint.output.uri == f"{own}/out/{{run}}"


@each
def test_an_editor_finds_the_schema_and_accepts_the_blueprint(folder: Path) -> None:
    text = (folder / "blueprint.yaml").read_text()
    mark, _, schema = text.splitlines()[0].partition("$schema=")
    assert mark == "# yaml-language-server: "
    assert (folder / schema).is_file()
    jsonschema.validate(yaml.safe_load(text), json_schema())


@each
def test_a_blueprint_explains_itself(folder: Path) -> None:
    assert (folder / "README.md").read_text().startswith(f"# {folder.name}\n")


@each
def test_the_sample_is_read_with_the_faults_it_is_meant_to_show(folder: Path) -> None:
    records = _sample(folder)
    faulty = [record.id for record in records if record.fault is not None]
    assert faulty == (["not-an-embedding"] if folder.name == "openai-batch-embeddings" else [])
    assert len(records) - len(faulty) >= 3


@each
def test_the_model_is_there_or_its_absence_is_told_in_one_sentence(folder: Path) -> None:
    blueprint = load_blueprint(folder)
    if folder.name != NEEDS_A_MODEL:
        check_blueprint(blueprint)
        return
    with pytest.raises(ConfigError, match=r"task\.engine\.model: .*there is no folder .*/model"):
        check_blueprint(blueprint)


def _sample(folder: Path) -> list[Record]:
    blueprint = load_blueprint(folder)
    body = (folder / "sample.jsonl").read_bytes()
    assert all(json.loads(line) for line in body.splitlines())
    reader = open_reader(blueprint.input, blueprint.output.carry)
    source = MemorySource("sample.jsonl", body)
    return list(reader.records(source, 0, None, 0, 0))
