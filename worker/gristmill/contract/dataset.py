"""Where records come from and where results go, and how both are spelled."""

from typing import Annotated, Literal

from pydantic import Field

from gristmill.contract.column import ColumnType
from gristmill.contract.section import Section
from gristmill.contract.units import Bytes

CarriedType = Literal[
    ColumnType.STRING, ColumnType.INT64, ColumnType.FLOAT64, ColumnType.BOOL, ColumnType.JSON
]


class _Fields(Section):
    text: str = Field(
        "{{ text }}", description="Jinja2 template over the record's fields: what the engine reads."
    )
    pair: str | None = Field(
        None, description="Template of the second text, for tasks that compare two (score)."
    )
    id: str | None = Field(
        None, description="Field that names the record. Absent: its place in the input."
    )


class JsonLines(_Fields):
    """One JSON object a line; plain, .gz or .zst. Plain files are read in parallel."""

    kind: Literal["jsonl"]


class ParquetFiles(_Fields):
    """Parquet, read in parallel by row group."""

    kind: Literal["parquet"]


class CsvFiles(_Fields):
    """CSV with a header line; plain, .gz or .zst."""

    kind: Literal["csv"]
    delimiter: str = Field(",", min_length=1, max_length=1)
    header: tuple[str, ...] | None = Field(
        None, description="Names of the columns, when the files have no header line."
    )
    newlines_in_fields: bool = Field(
        True,
        description="Whether a quoted field may hold a newline. Say false to read one file in "
        "parallel.",
    )


class OpenAiLines(Section):
    """OpenAI batch request lines (/v1/embeddings)."""

    kind: Literal["openai"]


class WholeFiles(Section):
    """Each file or object is one record."""

    kind: Literal["files"]
    content: Literal["text", "bytes"] = Field(
        "text", description="`text` is decoded as UTF-8; `bytes` goes to the engine as it is."
    )


InputFormat = Annotated[
    JsonLines | ParquetFiles | CsvFiles | OpenAiLines | WholeFiles, Field(discriminator="kind")
]


class Input(Section):
    uri: str = Field(
        min_length=1,
        description="A file, a folder or prefix, or a glob: local, s3://, gs:// or az://. "
        "Relative paths start at the blueprint's folder.",
    )
    format: InputFormat
    max_record_bytes: Bytes = Field(
        16 * 2**20, ge=1, le=2**30, description="A larger record is rejected unread."
    )


class ParquetOutput(Section):
    kind: Literal["parquet"]


class JsonLinesOutput(Section):
    kind: Literal["jsonl"]


class OpenAiOutput(Section):
    """OpenAI batch result lines; errors in a file of their own. Only for OpenAI input."""

    kind: Literal["openai"]


OutputFormat = Annotated[
    ParquetOutput | JsonLinesOutput | OpenAiOutput, Field(discriminator="kind")
]


class Output(Section):
    uri: str = Field(
        min_length=1,
        description="Folder or prefix for the results. `{run}` stands for the run's id. "
        "Relative paths start at the blueprint's folder.",
    )
    format: OutputFormat = ParquetOutput(kind="parquet")
    carry: dict[str, CarriedType] | tuple[str, ...] = Field(
        (),
        description="Input fields to copy to the results: a list of names, or name: type "
        "(string, int64, float64, bool, json). A list takes the types of a Parquet input and "
        "`string` elsewhere.",
    )
