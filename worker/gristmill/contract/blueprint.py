"""Blueprint: everything a team may choose, nothing else. An absent section is off."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gristmill.contract.column import ColumnType
from gristmill.contract.units import Bytes, Seconds

Kind = Literal["embed", "score", "classify", "transform"]
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,47}$")]
CarriedType = Literal[
    ColumnType.STRING, ColumnType.INT64, ColumnType.FLOAT64, ColumnType.BOOL, ColumnType.JSON
]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


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


class ShardSize(Section):
    bytes: Bytes = Field(
        64 * 2**20, ge=1, description="Input bytes of one shard, the unit that a worker takes."
    )


class PartSize(Section):
    records: int = Field(
        2048, ge=1, le=10**6, description="Records of one part, the unit that a kill can cost."
    )
    bytes: Bytes = Field(
        32 * 2**20, ge=1, description="Input bytes at which a part is closed early."
    )


class Errors(Section):
    """How many records may be rejected before the run stops. Nothing finished is lost by it."""

    max_failed_fraction: float = Field(
        0.01,
        ge=0,
        le=1,
        description="Share of the records; judged at the end, and on the way after 1,000 records.",
    )
    max_failed_records: int | None = Field(None, ge=0, description="Absent: no such limit.")


class Spot(Section):
    """Use spot capacity."""


class OnDemand(Section):
    """Use on-demand capacity, after spot where both are given."""


class Capacity(Section):
    gpus: tuple[str, ...] = Field((), description="GPU models, the preferred first.")
    max_workers: int = Field(1, ge=1, le=10_000)
    attempts: int = Field(
        10,
        ge=1,
        le=10,
        description="How often a worker or a shard is begun in a cloud before it is given up; "
        "machines that were taken back count.",
    )
    usd_per_hour: float | None = Field(
        None, gt=0, description="Price of one machine-hour, for the cost report."
    )
    spot: Spot | None = None
    on_demand: OnDemand | None = None


class Budget(Section):
    max_usd: float = Field(gt=0)


class Schedule(Section):
    cron: str = Field(min_length=1, description="Six fields, as EventBridge takes them.")
    timezone: str = "UTC"


class Blueprint(Section):
    """One team's choice: what to run over which input, and where the results go."""

    version: Literal[1]
    name: Slug
    team: Slug | None = None
    task: Task
    input: Input
    output: Output
    shard: ShardSize = ShardSize()
    part: PartSize = PartSize()
    seed: int = Field(0, ge=0, lt=2**63, description="Seeds anything that samples.")
    errors: Errors = Errors()
    capacity: Capacity = Capacity()
    deadline: Seconds | None = Field(None, gt=0)
    budget: Budget | None = None
    schedule: Schedule | None = None

    @model_validator(mode="after")
    def _formats_agree(self) -> Self:
        came, goes = self.input.format.kind, self.output.format.kind
        if goes == "openai" and came != "openai":
            raise ValueError("output.format openai answers OpenAI lines: set input.format openai")
        if came == "openai" and self.task.kind != "embed":
            raise ValueError("input.format openai takes /v1/embeddings lines: set task.kind embed")
        if came in ("openai", "files") and self.output.carry:
            raise ValueError(f"output.carry: {came} records have no fields to carry")
        pair = getattr(self.input.format, "pair", None)
        if self.task.kind == "score" and self.task.engine.kind == "torch" and pair is None:
            raise ValueError("task.kind score compares two texts: set input.format.pair")
        return self


def json_schema() -> dict[str, Any]:
    """The JSON Schema of blueprint.yaml, for editors and reviews."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Blueprint.model_json_schema(),
    }
