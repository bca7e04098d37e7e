"""Columns of the results: names and types fixed before the first record is paid for."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class ColumnType(StrEnum):
    """Types a result column can have, in every output format."""

    STRING = "string"
    INT64 = "int64"
    FLOAT64 = "float64"
    BOOL = "bool"
    JSON = "json"
    """Any JSON value, kept as its JSON text."""
    VECTOR = "vector"
    """A fixed number of float32; only engines make these."""
    VECTORS = "vectors"
    """A list of vectors of one length: a record that asked for several embeddings."""


class Column(BaseModel):
    """One result column. Every column may be null except what an engine makes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: ColumnType
    length: int | None = None
    """Floats per vector; only for vectors."""
