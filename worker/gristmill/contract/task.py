"""What is to be done, and the engine that does it."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from gristmill.contract.section import Section

Kind = Literal["embed", "score", "classify", "transform"]


class EchoFaults(Section):
    """Faults that the echo engine plays, for rehearsals and tests."""

    reject_containing: str | None = Field(
        None, description="The engine raises on every record whose text contains this."
    )
    die_after_batches: int | None = Field(
        None, ge=0, description="The engine dies for good after this many batches."
    )


class EchoEngine(Section):
    """Answers each text with the text. Needs no model: for rehearsals, tests and benchmarks."""

    kind: Literal["echo"]
    records_per_second: float | None = Field(
        None, gt=0, description="Pretend to work at this speed. Absent: as fast as it goes."
    )
    continuous: bool = Field(
        False,
        description="Take records one by one and finish them out of order, as a decoder does.",
    )
    max_tokens: int | None = Field(
        None, ge=1, description="Reject records of more words than this. Absent: no limit."
    )
    faults: EchoFaults | None = None


class BatchLimits(Section):
    """What fits one engine call."""

    tokens: int = Field(
        1024,
        ge=1,
        description="Tokens of one batch, padding included. Made for a CPU; a GPU likes more.",
    )
    records: int = Field(256, ge=1, le=65536, description="Records of one batch.")


class TorchEngine(Section):
    """sentence-transformers models on torch: embed, score (cross-encoder), classify."""

    kind: Literal["torch"]
    model: str = Field(
        min_length=1,
        description=(
            "A folder (`./model`), a folder inside an installed Python package "
            "(`package:<package>/<folder>`), or a hub id (`owner/name`)."
        ),
    )
    revision: str | None = Field(None, description="Revision of a hub model.")
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    max_tokens: int | None = Field(
        None, ge=1, description="Longest record, in tokens. Absent: what the model takes."
    )
    over_long: Literal["reject", "truncate"] = Field(
        "reject", description="What becomes of a record over max_tokens."
    )
    batch: BatchLimits = BatchLimits()


Engine = Annotated[EchoEngine | TorchEngine, Field(discriminator="kind")]

SUPPORTED: Final[dict[str, tuple[Kind, ...]]] = {
    "echo": ("embed", "score", "classify", "transform"),
    "torch": ("embed", "score", "classify"),
}
"""Which tasks each engine does."""


class Task(Section):
    kind: Kind
    engine: Engine

    @model_validator(mode="after")
    def _engine_does_it(self) -> Self:
        supported = SUPPORTED[self.engine.kind]
        if self.kind not in supported:
            raise ValueError(
                f"engine {self.engine.kind} can't {self.kind}; it can {', '.join(supported)}"
            )
        return self
