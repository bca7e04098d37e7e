from pathlib import Path

import pytest

from policies.finding import CannotJudgeError
from policies.synth import SYNTHESIZED, Subject, read


@pytest.mark.parametrize("folder", ["kubernetes", "policies"])
def test_what_lies_beside_a_blueprint_that_is_not_deployed_is_not_passed_over(
    folder: str,
    subject: Subject,
    full_platform: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Path(subject.folder.parent / SYNTHESIZED).absolute()
    text = Path("blueprints/embed-corpus/blueprint.yaml").read_text()
    for name, gpus in (("embed-corpus", "[L4, L40S]"), ("laptop", "[]")):
        (tmp_path / "blueprints" / name).mkdir(parents=True)
        file = tmp_path / "blueprints" / name / "blueprint.yaml"
        file.write_text(text.replace("[L4, L40S]", gpus))
    monkeypatch.chdir(tmp_path)
    assert read(full_platform, None, made, tmp_path / "out").blueprints
    (tmp_path / "blueprints" / "laptop" / folder).mkdir()
    with pytest.raises(CannotJudgeError, match=f"laptop/{folder}: is judged with a blueprint"):
        read(full_platform, None, made, tmp_path / "out")


def test_a_stack_belongs_to_the_blueprint_whose_whole_name_it_has(subject: Subject) -> None:
    found = subject.blueprint_of("embed-corpus-compute")
    assert found is not None
    assert found[1].name == "embed-corpus"
    assert subject.blueprint_of("embed-compute") is None
    assert subject.blueprint_of("gristmill-foundation") is None
