import subprocess
import sys
from types import ModuleType

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.contract.task import SUPPORTED, Task
from gristmill.engines import load as loading
from gristmill.engines.load import MODULES, load_engine
from tests.doubles.instant_clock import InstantClock

ECHO = Task.model_validate({"kind": "transform", "engine": {"kind": "echo"}})


def _load(task: Task) -> object:
    return load_engine(task, dialect="jsonl", seed=0, threads=None, clock=InstantClock())


def test_every_engine_of_the_blueprint_is_in_the_table() -> None:
    assert MODULES.keys() == SUPPORTED.keys()


def test_the_engine_that_the_task_names_is_loaded() -> None:
    assert type(_load(ECHO)).__module__ == MODULES["echo"]


@pytest.mark.parametrize("broken", [ImportError("no module torch"), OSError("libtorch.so")])
def test_a_missing_library_is_named_with_how_to_install_it(
    broken: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> ModuleType:
        raise broken

    monkeypatch.setattr(loading, "import_module", refuse)
    with pytest.raises(ConfigError, match=r"pip install 'gristmill\[echo\]'") as caught:
        _load(ECHO)
    assert str(broken) in str(caught.value)


def test_looking_for_an_engine_imports_no_engine_library() -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "tokenizers", "huggingface_hub"}
    program = (
        "import sys, gristmill.engines.load, gristmill.engines.echo, gristmill.contract.model\n"
        f"sys.exit(sorted({heavy!r} & sys.modules.keys()) or 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
