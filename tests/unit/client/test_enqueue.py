"""Whatever dies, and however often it is asked for: every shard is sent, hardly any twice."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar, TypeVarTuple

import pytest

from gristmill.client.enqueue import PAGE_TICKETS, enqueue, is_drained
from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json
from gristmill.contract.errors import StorageError
from gristmill.contract.fill import Fill
from gristmill.contract.ticket import Ticket
from gristmill.runtime.host import Host
from tests.doubles.instant_clock import InstantClock
from tests.doubles.memory_store import MemoryStore

pytestmark = pytest.mark.anyio
T = TypeVar("T")
Args = TypeVarTuple("Args")

SHARDS = range(2 * PAGE_TICKETS + 500)
PAGES = 3
QUIET = 60.0


class DiedError(Exception):
    """The client was killed here."""


class Forgetful:
    """A queue that takes whatever it is sent, as often as it is sent, and counts it."""

    quiet_seconds = QUIET
    lease_seconds = 60.0

    def __init__(self) -> None:
        self.sent: Counter[int] = Counter()
        self.fills = 0
        self.left = 0
        self.dies_in_fill: int | None = None
        self.looks: list[int] = []

    def fill(self, tickets: Iterable[Ticket]) -> None:
        shards = [ticket.shard for ticket in tickets]
        self.fills += 1
        if self.fills == self.dies_in_fill:
            self.take(shards[: len(shards) // 2])
            raise DiedError
        self.take(shards)

    def take(self, shards: list[int]) -> None:
        self.sent.update(shards)
        self.left += len(shards)

    def outstanding(self) -> int:
        return self.looks.pop(0) if self.looks else self.left

    def drain(self) -> None:
        self.left = 0


class Desk:
    def __init__(self) -> None:
        self.run = MemoryStore()
        self.queue = Forgetful()
        self.clock = InstantClock()

    async def enqueue(self, pending: Iterable[int] = SHARDS) -> int:
        queue: object = self.queue
        return await enqueue(self.run, queue, list(pending), self.host)  # type: ignore[arg-type]

    @property
    def host(self) -> Host:
        return Host(self.clock, in_place)

    def written(self) -> list[str]:
        return [info.key for info in self.run.list(layout.FILLS)]


async def in_place(call: Callable[[*Args], T], *args: *Args) -> T:
    return call(*args)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_every_pending_shard_is_sent_once_in_pages(desk: Desk) -> None:
    assert await desk.enqueue() == len(SHARDS)
    assert desk.queue.sent == Counter(SHARDS)
    assert desk.queue.fills == PAGES
    assert desk.written() == [
        "fills/000000/fill.json",
        "fills/000000/sent-000000.json",
        "fills/000000/sent-000001.json",
        "fills/000000/sent-000002.json",
    ]


async def test_only_pending_shards_are_sent(desk: Desk) -> None:
    assert await desk.enqueue([3, 5, 8]) == 3
    assert desk.queue.sent == Counter([3, 5, 8])


async def test_nothing_pending_leaves_no_trace(desk: Desk) -> None:
    assert await desk.enqueue([]) == 0
    assert desk.written() == []


async def test_again_while_the_queue_holds_tickets_sends_nothing_and_does_not_wait(
    desk: Desk,
) -> None:
    await desk.enqueue()
    for _ in range(3):
        assert await desk.enqueue() == 0
    assert desk.queue.sent == Counter(SHARDS)
    assert desk.clock.slept == []


@pytest.mark.parametrize("fill", range(1, PAGES + 1))
async def test_killed_while_a_page_is_sent_at_most_that_page_is_sent_twice(
    desk: Desk, fill: int
) -> None:
    desk.queue.dies_in_fill = fill
    with pytest.raises(DiedError):
        await desk.enqueue()
    await desk.enqueue()
    assert set(desk.queue.sent) == set(SHARDS)
    assert sum(desk.queue.sent.values()) - len(SHARDS) <= PAGE_TICKETS / 2
    assert await desk.enqueue() == 0


@pytest.mark.parametrize("after", [False, True], ids=["not written", "answer lost"])
@pytest.mark.parametrize("page", range(PAGES))
async def test_killed_before_a_page_is_marked_at_most_that_page_is_sent_twice(
    desk: Desk, page: int, after: bool
) -> None:
    plain, writes = desk.run.put_new, 0

    def put_new(key: str, body: bytes) -> bool:
        nonlocal writes
        writes += 1
        if writes == page + 2:  # the fill itself is the first
            if after:
                plain(key, body)
            raise StorageError("killed")
        return plain(key, body)

    desk.run.put_new = put_new  # type: ignore[method-assign]
    with pytest.raises(StorageError, match="killed"):
        await desk.enqueue()
    await desk.enqueue()
    assert set(desk.queue.sent) == set(SHARDS)
    twice = sum(desk.queue.sent.values()) - len(SHARDS)
    assert twice == (0 if after else min(PAGE_TICKETS, len(SHARDS) - page * PAGE_TICKETS))


async def test_a_fill_begun_by_another_client_is_finished_as_it_began(desk: Desk) -> None:
    desk.run.fail_next("put_new", StorageError("answer lost"), after=True)
    with pytest.raises(StorageError, match="answer lost"):
        await desk.enqueue([1, 2, 3])
    assert await desk.enqueue(SHARDS) == 3
    assert desk.queue.sent == Counter([1, 2, 3])


async def test_of_two_clients_that_begin_at_once_one_decides_and_the_other_follows(
    desk: Desk,
) -> None:
    theirs = Fill.of([0, 1, 2], PAGE_TICKETS, 0.0)
    plain = desk.run.put_new

    def put_new(key: str, body: bytes) -> bool:
        desk.run.put_new = plain  # type: ignore[method-assign]
        assert plain(key, canonical_json(theirs))
        return plain(key, body)

    desk.run.put_new = put_new  # type: ignore[method-assign]
    assert await desk.enqueue([0, 1, 2, 3]) == 3
    assert desk.run.get(layout.fill(0)) == canonical_json(theirs)


async def test_shards_finished_since_a_client_was_killed_are_not_sent(desk: Desk) -> None:
    desk.queue.dies_in_fill = 2
    with pytest.raises(DiedError):
        await desk.enqueue()
    desk.queue.sent.clear()
    await desk.enqueue(range(PAGE_TICKETS + 10, len(SHARDS)))
    assert desk.queue.sent == Counter(range(PAGE_TICKETS + 10, len(SHARDS)))


async def test_once_the_queue_is_drained_what_is_missing_makes_a_new_fill(desk: Desk) -> None:
    await desk.enqueue()
    desk.queue.drain()
    assert await desk.enqueue([4, 2000]) == 2
    assert desk.written()[-2:] == ["fills/000001/fill.json", "fills/000001/sent-000000.json"]
    assert await desk.enqueue([4, 2000]) == 0
    assert sum(desk.clock.slept) == QUIET


async def test_a_queue_that_seems_empty_for_a_moment_is_not_drained(desk: Desk) -> None:
    await desk.enqueue()
    desk.queue.looks = [0, 0, 0]
    assert await desk.enqueue() == 0
    assert desk.queue.sent == Counter(SHARDS)


async def test_an_exact_count_of_nothing_is_believed_at_once(desk: Desk) -> None:
    queue: object = desk.queue
    desk.queue.quiet_seconds = 0.0
    assert await is_drained(queue, desk.host)  # type: ignore[arg-type]
    assert desk.clock.slept == []
