"""What is true: PartManifest, ShardManifest, RunManifest; and what an attempt did."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from gristmill.contract.record import RejectionClass
from gristmill.contract.shard import Cursor


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Determinism(StrEnum):
    """What of a run came out the same when a sample of its parts was run again."""

    RECORDS = "same-records"
    """Exactly one outcome for each record; another version of gristmill did it again."""
    CONFIG = "same-config"
    """The same seeds and versions, and other bytes: the engine's numbers depend on neighbours,
    on the machine, or on chance."""
    BYTES = "same-bytes"


class DataFile(_Model):
    """One written object, and how to know that it is whole."""

    name: str
    """What it holds: `results`, `errors`, `rejected`, or `outcomes`: those of a part in which the
    engine refused records, kept for a retry of these alone."""
    key: str
    sha256: str
    bytes: int
    records: int


class Counts(_Model):
    """Sums over records. `records` is always `ok` + all of `rejected`."""

    records: int = 0
    ok: int = 0
    rejected: dict[RejectionClass, int] = {}
    tokens: int = 0
    """Tokens the engine was asked to look at, without padding."""
    padded_tokens: int = 0
    """Tokens with padding: what the engine computed."""
    batches: int = 0

    @property
    def rejected_total(self) -> int:
        return sum(self.rejected.values())

    @property
    def padding_ratio(self) -> float:
        """Share of the computed tokens that was padding, 0 to 1."""
        return 1 - self.tokens / self.padded_tokens if self.padded_tokens else 0.0

    @classmethod
    def total(cls, parts: Iterable["Counts"]) -> Self:
        rejected: dict[RejectionClass, int] = {}
        records = ok = tokens = padded = batches = 0
        for part in parts:
            records += part.records
            ok += part.ok
            tokens += part.tokens
            padded += part.padded_tokens
            batches += part.batches
            for reason, count in part.rejected.items():
                rejected[reason] = rejected.get(reason, 0) + count
        return cls(
            records=records,
            ok=ok,
            rejected=dict(sorted(rejected.items())),
            tokens=tokens,
            padded_tokens=padded,
            batches=batches,
        )


class PartManifest(_Model):
    """One checkpoint: contiguous records of a shard, published once. The first put wins."""

    spec: str
    """Digest of the RunSpec."""
    shard: int
    part: int
    attempt: str
    first: int
    """Ordinal of its first record."""
    start: Cursor
    end: Cursor
    last: bool
    """No record of the shard comes after it."""
    generation: int = 0
    """How many retries made it anew; of two, the later one holds."""
    counts: Counts
    files: tuple[DataFile, ...]
    engine_seconds: float


class PartialManifest(_Model):
    """Heads the outcomes that a reclaimed attempt had of a part when it was cut short: whole
    planned batches, never a prefix. The next attempt runs only the others."""

    spec: str
    shard: int
    part: int
    attempt: str
    start: Cursor
    records: int
    """Outcomes that follow, one a line."""
    engine_seconds: float
    """Spent on them, by earlier attempts too."""


class ShardManifest(_Model):
    """A finished shard: its parts tile it, its results are published."""

    spec: str
    shard: int
    attempt: str
    generation: int = 0
    parts: int
    counts: Counts
    engine_seconds: float
    results: tuple[DataFile, ...]
    """Keys relative to the output."""
    dead_letter: DataFile | None
    """Key relative to the run directory; None when nothing was rejected."""


class RunManifest(_Model):
    """A finished run. Written once, after every shard and after the check of all manifests."""

    spec: str
    run: str
    shards: int
    counts: Counts
    engine_seconds: float
    attempts: int
    worker_seconds: float
    usd: float | None
    generation: int = 0
    """How many retries of rejected records it holds."""
    determinism: Determinism | None = None
    """The level that a replay observed; None until one has."""


class ShardFailure(_Model):
    """A ticket that was given up: all its attempts ended without finishing it."""

    spec: str
    shard: int
    part: int
    """0: the shard as a whole."""
    receives: int
    """How often it was leased."""
    at: float
    """Seconds since the epoch."""


class Control(_Model):
    """What the people of a run want of it. Written over."""

    wanted: Literal["work", "cancel"]
    at: float
    """Seconds since the epoch."""


class AttemptReport(_Model):
    """What one worker process did. Its own key: the one object that is written over."""

    attempt: str
    host: str
    pid: int
    started_at: float
    """Seconds since the epoch."""
    updated_at: float
    exit_code: int | None = None
    """None: still working, or killed without a word."""
    message: str | None = None
    seconds: float = 0.0
    load_seconds: float = 0.0
    engine_seconds: float = 0.0
    counts: Counts = Counts()
    """Of the parts whose manifest this attempt won."""
    lost_records: int = 0
    """Records inferred in vain: of parts that another attempt had published first, or in the
    engine when the time to stop ran out."""
    kept_records: int = 0
    """Records of parts that were cut short and whose outcomes are kept for the next attempt."""
    machine_share: float = 1.0
    peak_rss: int = 0
    """Bytes."""
