"""A ticket in a worker's hands: the shard it is about, and what is published of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gristmill.contract import layout
from gristmill.contract.canonical import decode
from gristmill.contract.manifest import PartManifest
from gristmill.contract.shard import Shard
from gristmill.contract.ticket import Ticket
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.read import ShardReader
from gristmill.store.protocol import ObjectStore

WORTH_DIVIDING = 4
"""Parts left, at least: a half must be worth the reading that finds where it begins."""


@dataclass(slots=True)
class OpenTicket:
    """`parts` are those published of the whole shard, as far as is known here."""

    ticket: Ticket
    shard: Shard
    stop: int | None
    """Parts from this one on are others'; None: to the shard's end."""
    parts: dict[int, PartManifest] = field(default_factory=dict)
    partials: dict[int, list[str]] = field(default_factory=dict)
    """Keys of what earlier attempts inferred of parts that they had to cut short."""

    fed: bool = False
    """Whether every part of it was read: what is not published is on its way."""
    ended: bool = False

    def covers(self, shard: int, part: int) -> bool:
        return (
            shard == self.ticket.shard
            and part >= self.ticket.part
            and (self.stop is None or part < self.stop)
        )

    @property
    def finished(self) -> bool:
        """Whether every part of the ticket is published."""
        part = self.ticket.part
        while part in self.parts and part != self.stop:
            if self.parts[part].last:
                return True
            part += 1
        return part == self.stop

    @property
    def complete(self) -> bool:
        """Whether every part of the shard is published."""
        top = max(self.parts, default=None)
        return top is not None and self.parts[top].last and len(self.parts) == top + 1


def look_up(run: ObjectStore, plan: PlanPages, ticket: Ticket) -> OpenTicket | None:
    """What is published of a ticket's shard; None when the shard is finished. Blocks."""
    opened = OpenTicket(ticket, plan.shard(ticket.shard), ticket.stop)
    for info in run.list(layout.shard_prefix(ticket.shard)):
        if layout.shard_of_manifest(info.key) is not None:
            return None
        if (found := layout.part_of_manifest(info.key)) is not None:
            opened.parts[found[1]] = _manifest(run, info.key)
        elif (part := layout.part_of_partial(info.key)) is not None:
            opened.partials.setdefault(part, []).append(info.key)
    return opened


def published_parts(run: ObjectStore, shard: int) -> Iterator[PartManifest]:
    """Of a whole shard, in order. Blocks."""
    for info in run.list(layout.parts_prefix(shard)):
        yield _manifest(run, info.key)


def divide(opened: OpenTicket, reader: ShardReader) -> Ticket | None:
    """The later half of what is left, for another worker; None when too little is left. Blocks.

    The reader and the ticket end before it from then on.
    """
    left = reader.ahead()
    if len(left) < WORTH_DIVIDING:
        return None
    later = left[len(left) // 2]
    reader.stop = opened.stop = later.part
    return later


def _manifest(run: ObjectStore, key: str) -> PartManifest:
    return decode(PartManifest, run.get(key), f"{run.uri}/{key}")
