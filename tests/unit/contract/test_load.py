"""Every sentence that a wrong blueprint can end in."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.errors import ConfigError
from gristmill.contract.load import load_blueprint, override_tree

GOOD = """\
version: 1
name: mill
task:
  kind: transform
  engine: {kind: echo}
input:
  uri: in
  format: {kind: jsonl}
output: {uri: out}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "blueprint.yaml"
    file.write_text(GOOD)
    return file


def refusal(path: Path, *overrides: str, **values: Any) -> str:
    with pytest.raises(ConfigError) as refused:
        load_blueprint(path, overrides, values or None)
    return str(refused.value).replace(str(path), "B")


def loaded(path: Path, *overrides: str) -> Blueprint:
    return load_blueprint(path, overrides)


def test_relative_places_start_at_the_blueprints_folder(path: Path) -> None:
    plain = loaded(path)
    assert plain.input.uri == str(path.parent / "in")
    assert plain.output.uri == str(path.parent / "out")


def test_a_folder_stands_for_the_blueprint_in_it(path: Path) -> None:
    assert loaded(path.parent) == loaded(path)


def test_an_input_folder_has_one_spelling(path: Path) -> None:
    (path.parent / "in").mkdir()
    assert loaded(path).input.uri == loaded(path, "input.uri=in/").input.uri
    assert loaded(path).input.uri.endswith("/in/")


@pytest.mark.parametrize("uri", ["s3://b/x y/*.jsonl", "memory://a", "gs://b"])
def test_uris_with_a_scheme_stay_as_they_are(path: Path, uri: str) -> None:
    assert loaded(path, f"input.uri={uri}").input.uri == uri


def test_a_model_folder_starts_at_the_blueprints_folder_too(path: Path) -> None:
    def model(name: str) -> str:
        engine = f"task.engine={{kind: torch, model: {name}}}"
        found = loaded(path, "task.kind=embed", engine).task.engine
        assert found.kind == "torch"
        return found.model

    assert model("./m") == str(path.parent / "m")
    assert model("owner/name") == "owner/name"
    assert model("package:p/m") == "package:p/m"


# One line a fault: overrides of a good blueprint, and the sentence.
SENTENCES: list[tuple[tuple[str, ...], str]] = [
    (("inptu.uri=x",), "B: inptu: unknown key; did you mean input?"),
    (("part.record=5",), "B: part.record: unknown key; did you mean records?"),
    (("task.engine.rate=5",), "B: task.engine.rate: unknown key; known here: "),
    (
        ("task.engine.max_token=5",),
        "B: task.engine.max_token: unknown key; did you mean max_tokens?",
    ),
    (("input.format.txt=x",), "B: input.format.txt: unknown key; did you mean text?"),
    (("zzz=1",), "B: zzz: unknown key; known here: budget, capacity, "),
    (("version=2",), "B: version: got 2, must be 1"),
    (
        ("name=Bad Name",),
        "B: name: got 'Bad Name', must be lower-case letters, digits and hyphens, start with a "
        "letter and have at most 48 characters",
    ),
    (("task.kind=paint",), "B: task.kind: got 'paint', must be 'embed', 'score', 'classify' or"),
    (
        ("task.engine.kind=vlm",),
        "B: task.engine: got vlm, must be one of 'echo', 'torch'",
    ),
    (("task.engine={}",), "B: task.engine.kind: is missing; it says which kind of engine this is"),
    (("input.format={}",), "B: input.format.kind: is missing; it says which kind of format"),
    (("input={}",), "B: input.uri: is missing; it has no default"),
    (("capacity.max_workers=0",), "B: capacity.max_workers: got 0, must be 1 to 10000"),
    (("capacity.max_workers=10001",), "B: capacity.max_workers: got 10001, must be 1 to 10000"),
    (("part.records=0",), "B: part.records: got 0, must be 1 to 1000000"),
    (("part.records=lots",), "B: part.records: got 'lots', must be a valid integer"),
    (("part.records=1.5",), "B: part.records: got 1.5, must be a valid integer"),
    (("errors.max_failed_fraction=2",), "B: errors.max_failed_fraction: got 2, must be 0 to 1"),
    (("capacity.usd_per_hour=-1",), "B: capacity.usd_per_hour: got -1, must be greater than 0"),
    (("seed=-1",), "B: seed: got -1, must be greater than or equal to 0"),
    (
        ("shard.bytes=64 megs",),
        "B: shard.bytes: got '64 megs', must be a size such as 64MiB, 1.5GB or a whole number",
    ),
    (
        ("deadline=tomorrow",),
        "B: deadline: got 'tomorrow', must be a duration such as 90s, 1h30m, 6h, 2d",
    ),
    (("part=5",), "B: part: got 5, "),
    (("input.uri=[a]",), "B: input.uri: got a list, must be a valid string"),
    (("input.uri=",), "B: input.uri: got nothing, must be a valid string"),
    (
        ("task.engine={kind: torch, model: a/b}",),
        "B: task: engine torch can't transform; it can embed, score, classify",
    ),
    (
        ("output.format.kind=openai",),
        "B: output.format openai answers OpenAI lines: set input.format openai",
    ),
    (
        ("input.format={kind: openai}",),
        "B: input.format openai takes /v1/embeddings lines: set task.kind embed",
    ),
    (
        ("input.format={kind: files}", "output.carry=[a]"),
        "B: output.carry: files records have no fields to carry",
    ),
    (
        ("task.kind=score", "task.engine={kind: torch, model: a/b}"),
        "B: task.kind score compares two texts: set input.format.pair",
    ),
    (
        ("output.carry={a: vector}",),
        "B: output.carry",
    ),
    (("part.records",), "--set part.records: must be key=value, as in part.records=512"),
    (("=5",), "--set =5: must be key=value"),
    (("name.x=5",), "--set name.x=5: name.x goes through a value that has no keys"),
    (("part.records=[",), "--set part.records=[: line 1 is not valid YAML: "),
]


@pytest.mark.parametrize(("overrides", "sentence"), SENTENCES, ids=lambda v: str(v)[:40])
def test_a_wrong_value_is_named_with_what_is_allowed(
    path: Path, overrides: tuple[str, ...], sentence: str
) -> None:
    assert refusal(path, *overrides).startswith(sentence)


def test_every_fault_has_its_line(path: Path) -> None:
    said = refusal(path, "part.records=0", "nmae=x", "errors.max_failed_fraction=2")
    assert len(said.splitlines()) == 3


def test_a_long_value_is_shown_short(path: Path) -> None:
    assert len(refusal(path, f"part.records={'x' * 500}")) < 200


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "B: must be a mapping of sections, got nothing"),
        ("- a\n", "B: must be a mapping of sections, got a list"),
        ("hello", "B: must be a mapping of sections, got 'hello'"),
        ("a: 1\na: 2\n", "B: is not valid YAML: line 2: key 'a' is given twice"),
        ("x:\n  a: 1\n  b: 2\n  a: 3\n", "B: is not valid YAML: line 4: key 'a' is given twice"),
        ("a: [1\n", "B: line 2 is not valid YAML: "),
        ("\ta: 1\n", "B: line 1 is not valid YAML: "),
        (
            "name: x\ntext: {{ body }}\n",
            "B: is not valid YAML: line 2: a key must be plain text; put quotes around a "
            'template, as in text: "{{ body }}"',
        ),
        ("? [a, b]\n: 1\n", "B: is not valid YAML: line 1: a key must be plain text"),
        ("a: !!python/object:os.x {}\n", "B: line 1 is not valid YAML: "),
        ("a: \x01\n", "B: is not valid YAML: "),
    ],
)
def test_what_is_no_blueprint_is_refused_with_its_line(
    path: Path, text: str, sentence: str
) -> None:
    path.write_text(text)
    assert refusal(path).startswith(sentence)
    assert refusal(path, "name=x", **{"input.uri": "/x"}).startswith(sentence)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent.yaml") == "B: no such file; name a blueprint.yaml"
    assert refusal(tmp_path) == "B/blueprint.yaml: no such file; name a blueprint.yaml"


def test_a_file_that_is_no_text_is_named(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")
    assert refusal(path) == "B: is not UTF-8 text; name a blueprint.yaml"


def test_an_override_reaches_a_section_that_is_absent_or_empty(path: Path) -> None:
    assert loaded(path, "budget.max_usd=5").budget is not None
    path.write_text(GOOD + "errors:\n")
    assert loaded(path, "errors.max_failed_records=5").errors.max_failed_records == 5


def test_an_override_is_yaml(path: Path) -> None:
    assert loaded(path, "shard.bytes=8MiB").shard.bytes == 8 * 2**20
    assert loaded(path, "output.carry={a: int64}").output.carry == {"a": "int64"}
    text = "{{ a }}={{ b }}"
    plain = loaded(path, f"input.format.text='{text}'").input.format
    assert plain.model_dump()["text"] == text


def test_the_last_override_of_a_key_holds(path: Path) -> None:
    assert loaded(path, "part.records=1", "part.records=2").part.records == 2


def test_values_are_taken_as_they_are(path: Path) -> None:
    odd = "/x/a b#c: {d}?%2F+*.jsonl"
    assert load_blueprint(path, (), {"input.uri": odd}).input.uri == odd


def test_overriding_changes_the_tree_in_place() -> None:
    tree = yaml.safe_load(GOOD)
    override_tree(tree, ("part.records=7",))
    assert tree["part"] == {"records": 7}
