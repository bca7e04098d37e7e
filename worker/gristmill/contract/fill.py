"""Fill: which shards' tickets were sent to a work queue together. The journal of sending."""

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, ConfigDict


class Fill(BaseModel):
    """Tickets sent to a queue that held none of the run. The first put of a number wins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: float
    """Seconds since the epoch."""
    page_tickets: int
    """Tickets a page; each sent page has its own object beside this one."""
    ranges: tuple[tuple[int, int], ...]
    """Shards, as [first, after the last), in order."""

    @classmethod
    def of(cls, shards: Iterable[int], page_tickets: int, at: float) -> Self:
        ranges: list[tuple[int, int]] = []
        for shard in sorted(shards):
            if ranges and ranges[-1][1] == shard:
                ranges[-1] = (ranges[-1][0], shard + 1)
            else:
                ranges.append((shard, shard + 1))
        return cls(at=at, page_tickets=page_tickets, ranges=tuple(ranges))

    def pages(self) -> list[list[int]]:
        """Its shards, a page at a time."""
        shards = [shard for first, stop in self.ranges for shard in range(first, stop)]
        size = self.page_tickets
        return [shards[at : at + size] for at in range(0, len(shards), size)]


class SentPage(BaseModel):
    """A page of a Fill is in the queue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: float
    tickets: int
    """Sent; fewer than the page has where shards were finished by then."""
