"""What a record asks of an engine, and whether the run's columns can hold the answer."""

from collections.abc import Mapping
from typing import Any, Final

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.record import Record, Rejected, RejectionClass, Stage
from gristmill.contract.task import Kind

_COLUMNS: Final[Mapping[Kind, tuple[Column, ...]]] = {
    "score": (Column(name="score", type=ColumnType.FLOAT64),),
    "classify": (
        Column(name="label", type=ColumnType.STRING),
        Column(name="score", type=ColumnType.FLOAT64),
    ),
    "transform": (Column(name="text", type=ColumnType.STRING),),
}


def columns_for(kind: Kind, dialect: str, dimensions: int) -> tuple[Column, ...]:
    """The result columns of a task. OpenAI answers hold several embeddings and a token count."""
    if kind != "embed":
        return _COLUMNS[kind]
    if dialect == "openai":
        return (
            Column(name="embedding", type=ColumnType.VECTORS, length=dimensions),
            Column(name="tokens", type=ColumnType.INT64),
        )
    return (Column(name="embedding", type=ColumnType.VECTOR, length=dimensions),)


def refusal(record: Record, columns: tuple[Column, ...]) -> Rejected | None:
    """Why the answer to this record doesn't fit the columns; None when it does."""
    several = columns[0].type is ColumnType.VECTORS
    count = len(record.inputs)
    if count == 0:
        return unsupported("has no input; give it at least one text")
    if count > 1 and not several:
        return unsupported(
            f"has {count} inputs, but a result holds one answer; "
            "set output.format openai, or give each input a record of its own"
        )
    wanted = record.params.get("dimensions") if record.params else None
    return None if wanted is None else _dimensions(wanted, columns[0].length, several)


def unsupported(message: str) -> Rejected:
    return Rejected(RejectionClass.UNSUPPORTED, Stage.PREPARE, message)


def too_long(tokens: int, limit: int) -> Rejected:
    return Rejected(
        RejectionClass.TOO_LONG,
        Stage.PREPARE,
        f"has {tokens} tokens, the limit is {limit}; shorten it or split it",
    )


def _dimensions(wanted: Any, length: int | None, several: bool) -> Rejected | None:
    if length is None:
        return unsupported("asks for dimensions, which only embeddings have; leave it out")
    if wanted > length:
        return unsupported(f"asks for {wanted} dimensions; the model has {length}")
    if wanted < length and not several:
        return unsupported(
            f"asks for {wanted} dimensions, but all results of a run have the model's {length}; "
            "set output.format openai or leave it out"
        )
    return None
