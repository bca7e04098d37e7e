import subprocess
import sys

import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.dataset import Input, JsonLinesOutput, ParquetOutput
from gristmill.contract.errors import ConfigError
from gristmill.formats.open import open_reader, open_writer

TEXT = Column(name="text", type=ColumnType.STRING)


@pytest.mark.parametrize("name", ["id", "text"])
def test_a_carried_column_may_not_take_a_name_of_the_results(name: str) -> None:
    carried = (Column(name=name, type=ColumnType.STRING),)
    with pytest.raises(ConfigError, match=rf"output\.carry: `{name}` is already the name of"):
        open_writer(ParquetOutput(kind="parquet"), (TEXT,), carried)


def test_a_bad_template_is_refused_when_the_reader_is_opened() -> None:
    input = Input.model_validate({"uri": "in", "format": {"kind": "jsonl", "pair": "{{ x"}})
    with pytest.raises(ConfigError, match=r"input\.format\.pair: line 1"):
        open_reader(input, ())


def test_only_the_chosen_dialect_is_imported() -> None:
    program = (
        "import sys; from gristmill.formats.open import open_writer, open_reader\n"
        "from gristmill.contract.dataset import Input, JsonLinesOutput\n"
        "open_reader(Input.model_validate({'uri': 'x', 'format': {'kind': 'jsonl'}}), ())\n"
        "open_writer(JsonLinesOutput(kind='jsonl'), (), ())\n"
        "assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_writer_of_each_kind_is_found() -> None:
    assert open_writer(JsonLinesOutput(kind="jsonl"), (TEXT,), ()).extensions == {
        "results": "jsonl"
    }
    assert open_writer(ParquetOutput(kind="parquet"), (TEXT,), ()).extensions == {
        "results": "parquet"
    }
