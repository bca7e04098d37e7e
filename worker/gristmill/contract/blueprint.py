"""Blueprint: everything a team may choose, nothing else. An absent section is off."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gristmill.contract.dataset import Input, Output
from gristmill.contract.section import Section
from gristmill.contract.task import Task
from gristmill.contract.units import Bytes, Seconds

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,47}$")]


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
    owner: str | None = Field(
        None,
        min_length=1,
        description="Whom to ask: an address or a channel. For people and rules.",
    )
    data_class: Slug | None = Field(
        None,
        description="How the data must be treated, in the platform's own words: `internal`. "
        "Rules of the platform may ask for it and depend on it.",
    )
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
