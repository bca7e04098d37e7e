"""A run's shards -> tickets in a queue that can't tell one it has from one it has not (SQS).

1. A fill is elected by create-only put: the shards that were not finished then.
2. Its tickets are sent a page at a time; after each page a create-only marker. Killed between the
   two, the next client sends that one page again.
3. With every page marked nothing is sent, until the queue has been empty for its quiet time.
4. Then what is not finished was lost, given up or cancelled: it makes the next fill.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json, decode
from gristmill.contract.fill import Fill, SentPage
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import WorkQueue
from gristmill.runtime.host import Host
from gristmill.store.protocol import ObjectStore

PAGE_TICKETS: Final = 1000
LOOK_SECONDS: Final = 5.0
"""Between looks at a queue that seems empty."""


@dataclass(frozen=True, slots=True)
class _Journal:
    """The newest fill, and its pages that were sent."""

    number: int
    fill: Fill
    sent: frozenset[int]

    @property
    def is_sent(self) -> bool:
        return len(self.sent) == len(self.fill.pages())


async def enqueue(run: ObjectStore, queue: WorkQueue, pending: Collection[int], host: Host) -> int:
    """Tickets sent by this call: for the shards in `pending` that the queue does not have."""
    if not pending:
        return 0
    journal = await host.offload(_read, run)
    if journal is None or (journal.is_sent and await is_drained(queue, host)):
        number = 0 if journal is None else journal.number + 1
        fill = Fill.of(pending, PAGE_TICKETS, host.clock.now())
        journal = await host.offload(_elect, run, number, fill)
    wanted, sent = frozenset(pending), 0
    for page, shards in enumerate(journal.fill.pages()):
        if page not in journal.sent:
            tickets = [Ticket(shard) for shard in shards if shard in wanted]
            await host.offload(queue.fill, tickets)
            marker = SentPage(at=host.clock.now(), tickets=len(tickets))
            key = layout.fill_page(journal.number, page)
            await host.offload(run.put_new, key, canonical_json(marker))
            sent += len(tickets)
    return sent


async def is_drained(queue: WorkQueue, host: Host) -> bool:
    """Whether nothing is outstanding for as long as the queue's count may lag behind."""
    began = host.clock.monotonic()
    while await host.offload(queue.outstanding) == 0:
        left = began + queue.quiet_seconds - host.clock.monotonic()
        if left <= 0:
            return True
        await host.clock.sleep(min(LOOK_SECONDS, left))
    return False


def _read(run: ObjectStore) -> _Journal | None:
    keys = [info.key for info in run.list(layout.FILLS)]
    numbers = [number for key in keys if (number := layout.number_of_fill(key)) is not None]
    if not numbers:
        return None
    newest = max(numbers)
    pages = [page for key in keys if (page := layout.page_of_fill(key)) is not None]
    sent = frozenset(page for number, page in pages if number == newest)
    return _Journal(newest, _published(run, newest), sent)


def _elect(run: ObjectStore, number: int, mine: Fill) -> _Journal:
    if not run.put_new(layout.fill(number), canonical_json(mine)):
        mine = _published(run, number)
    return _Journal(number, mine, frozenset())


def _published(run: ObjectStore, number: int) -> Fill:
    key = layout.fill(number)
    return decode(Fill, run.get(key), f"{run.uri}/{key}")
