"""MemorySource: one input object in memory, which counts what is read of it."""

from dataclasses import dataclass, field

from gristmill.contract.shard import InputObject


@dataclass
class MemorySource:
    key: str
    body: bytes
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """What was read."""

    @property
    def object(self) -> InputObject:
        return InputObject(self.key, len(self.body), "etag")

    def read(self, start: int, stop: int) -> bytes:
        self.ranges.append((start, stop))
        return self.body[start:stop]
