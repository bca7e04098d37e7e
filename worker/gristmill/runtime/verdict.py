"""What a proof looks at, and what it found."""

from array import array
from dataclasses import dataclass, field

import numpy as np

from gristmill.contract.manifest import Counts
from gristmill.contract.run import RunSpec
from gristmill.formats.protocol import Reader, Writer
from gristmill.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is not as it must be."""

    where: str
    """Which object, shard, part or file."""
    what: str


@dataclass(slots=True)
class Verdict:
    """What was checked and what was found wrong. Sound when `gaps` is empty."""

    gaps: list[Gap] = field(default_factory=list)
    shards: int = 0
    parts: int = 0
    files: int = 0
    objects: int = 0
    counts: Counts = field(default_factory=Counts)
    marks: "array[int]" = field(default_factory=lambda: array("q"))
    """A 64-bit hash of each record's id. Deep only: 8 bytes a record."""

    @property
    def repeated_ids(self) -> int:
        """Records whose id an earlier record has too; no gap, since places tell records apart."""
        return len(self.marks) - len(np.unique(np.frombuffer(self.marks, np.int64)))

    def miss(self, where: str, what: str) -> None:
        self.gaps.append(Gap(where, what))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a run's manifests and data lie, and who can read them."""

    spec: RunSpec
    run: ObjectStore
    output: ObjectStore
    inputs: ObjectStore
    reader: Reader
    writer: Writer
