"""Kind of a format -> its reader or writer. Only the chosen one's libraries are imported."""

from gristmill.contract.column import Column
from gristmill.contract.dataset import (
    CsvFiles,
    Input,
    JsonLines,
    JsonLinesOutput,
    OpenAiLines,
    OpenAiOutput,
    OutputFormat,
    ParquetFiles,
    ParquetOutput,
    WholeFiles,
)
from gristmill.contract.errors import ConfigError
from gristmill.formats.carry import Carry
from gristmill.formats.protocol import Reader, Writer


def open_reader(input: Input, carry: Carry) -> Reader:
    """The reader of this input. `carry` is the blueprint's; a worker gives the types that planning
    found instead, so that every object is read with the same ones.

    Raises ConfigError for a template that isn't one.
    """
    most = input.max_record_bytes
    match input.format:
        case JsonLines() as format:
            from gristmill.formats.jsonl import JsonLinesReader

            return JsonLinesReader(format, most, carry)
        case ParquetFiles() as format:
            from gristmill.formats.parquet_reader import ParquetReader

            return ParquetReader(format, most, carry)
        case CsvFiles() as format:
            from gristmill.formats.csv import CsvReader

            return CsvReader(format, most, carry)
        case OpenAiLines():
            from gristmill.formats.openai_reader import OpenAiReader

            return OpenAiReader(most)
        case WholeFiles() as format:
            from gristmill.formats.files import FilesReader

            return FilesReader(format, most)


def open_writer(
    format: OutputFormat, engine_columns: tuple[Column, ...], carried: tuple[Column, ...]
) -> Writer:
    """The writer of these columns. Raises ConfigError when two would have one name."""
    _refuse_clash(engine_columns, carried)
    match format:
        case ParquetOutput():
            from gristmill.formats.parquet_writer import ParquetWriter

            return ParquetWriter(engine_columns, carried)
        case JsonLinesOutput():
            from gristmill.formats.jsonl import JsonLinesWriter

            return JsonLinesWriter(engine_columns, carried)
        case OpenAiOutput():
            from gristmill.formats.openai_writer import OpenAiWriter

            return OpenAiWriter(engine_columns)


def _refuse_clash(engine_columns: tuple[Column, ...], carried: tuple[Column, ...]) -> None:
    taken = {"id": "the record's id"} | {c.name: "a result of the engine" for c in engine_columns}
    for column in carried:
        if column.name in taken:
            raise ConfigError(
                f"output.carry: `{column.name}` is already the name of {taken[column.name]} in the "
                "results; leave it out, or rename the field in the input"
            )
