from pathlib import Path

import pytest

from gristmill.client.check import check_blueprint
from gristmill.contract.errors import ConfigError
from tests.doubles.mill import blueprint


def test_a_blueprint_is_checked_without_its_data() -> None:
    check_blueprint(blueprint())


def test_a_template_that_is_none_is_refused() -> None:
    broken = {"kind": "jsonl", "text": "{{ text"}
    with pytest.raises(ConfigError, match=r"input\.format\.text"):
        check_blueprint(blueprint(input={"uri": "memory://in/", "format": broken}))


def test_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    task = {"kind": "embed", "engine": {"kind": "torch", "model": str(tmp_path / "absent")}}
    with pytest.raises(ConfigError, match=r"task\.engine\.model: got .*there is no folder"):
        check_blueprint(blueprint(task=task))
