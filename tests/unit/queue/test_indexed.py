"""Several workers on one store, each with a clock of its own."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from gristmill.contract import layout
from gristmill.contract.errors import StorageError
from gristmill.contract.shard import Cursor
from gristmill.contract.ticket import Ticket
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.protocol import Lease, LeaseLostError
from gristmill.store.protocol import ObjectInfo
from tests.doubles.memory_store import MemoryStore

LEASE_SECONDS = 60.0
LOOK = LEASE_SECONDS / 12
"""After so long a worker that waits looks at everything again."""
ATTEMPTS = 3


class CountingStore(MemoryStore):
    """Counts the calls: (method, prefix of a listing)."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[tuple[str, str]] = Counter()

    def get(self, key: str) -> bytes:
        self.calls["get", ""] += 1
        return super().get(key)

    def put(self, key: str, body: bytes) -> None:
        self.calls["put", ""] += 1
        super().put(key, body)

    def put_new(self, key: str, body: bytes) -> bool:
        self.calls["put_new", ""] += 1
        return super().put_new(key, body)

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        self.calls["list", prefix] += 1
        return super().list(prefix)


class World:
    """One store, its workers, and the time that passes for them."""

    def __init__(self, shards: int, workers: int, store: MemoryStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.seconds = 0.0
        self._shards, self._workers = shards, workers
        self._tokens = count()

    def worker(self, index: int, *, clock_ahead: float = 0.0) -> IndexedQueue:
        return IndexedQueue(
            self.store,
            shards=self._shards,
            index=index,
            workers=self._workers,
            monotonic=lambda: self.seconds + clock_ahead,
            token=lambda: f"token-{next(self._tokens)}",
            lease_seconds=LEASE_SECONDS,
            attempts=ATTEMPTS,
        )


def leased(queue: IndexedQueue) -> Lease:
    lease = queue.lease()
    assert lease is not None
    return lease


def taken(queue: IndexedQueue, most: int = 1_000) -> list[int]:
    """The shards it gets, one after the other, until it gets none."""
    leases = (queue.lease() for _ in range(most))
    return [lease.ticket.shard for lease in leases if lease is not None]


def finish(queue: IndexedQueue, leases: int) -> None:
    for _ in range(leases):
        queue.complete(leased(queue))


def test_the_plan_is_the_work_without_being_filled_in() -> None:
    assert World(shards=7, workers=2).worker(0).outstanding() == 7


def test_each_worker_takes_its_own_shards_in_order() -> None:
    world = World(shards=7, workers=3)
    queues = [world.worker(index) for index in range(3)]
    assert [taken(queue, 2) for queue in queues] == [[0, 3], [1, 4], [2, 5]]


def test_it_steals_the_last_shards_of_whoever_is_furthest_behind() -> None:
    world = World(shards=12, workers=3)
    thief, busy, slow = (world.worker(index) for index in range(3))
    finish(thief, 4)
    finish(busy, 2)  # of 1, 4, 7, 10
    leased(slow)  # 2, and then nothing
    world.seconds += LOOK
    assert leased(thief).ticket.shard == 11
    assert taken(thief) == [8, 5, 10, 7]


def test_it_steals_nothing_while_it_has_work_of_its_own() -> None:
    world = World(shards=4, workers=2)
    worker = world.worker(0)
    assert taken(worker, 2) == [0, 2]
    assert taken(worker, 2) == [3, 1]


def test_a_worker_that_never_came_is_worked_for() -> None:
    world = World(shards=10, workers=5)
    only = world.worker(3)
    finish(only, 10)
    assert only.lease() is None
    assert only.outstanding() == 0


@pytest.mark.parametrize("again", range(5))
def test_of_thieves_that_come_at_once_exactly_one_gets_each_shard(again: int) -> None:
    world = World(shards=30, workers=9)
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(taken, [world.worker(index) for index in range(8)])
    assert Counter(shard for shards in found for shard in shards) == Counter(range(30))


def test_the_loser_of_a_race_goes_on_to_the_next_shard() -> None:
    class Rival(MemoryStore):
        """Somebody claims shard 0 right before anyone else can."""

        def put_new(self, key: str, body: bytes) -> bool:
            if key == layout.claim(0, 0, 1):
                super().put_new(key, b'{"token": "theirs", "index": 7, "beat": 0}')
            return super().put_new(key, body)

    world = World(shards=2, workers=1, store=Rival())
    queue = world.worker(0)
    assert leased(queue).ticket.shard == 1
    assert queue.lease() is None
    assert queue.outstanding() == 2


def test_a_claim_whose_answer_was_lost_is_recognized_as_its_own() -> None:
    class Repeating(MemoryStore):
        """A store whose first answer is lost, so that the request is sent twice."""

        def put_new(self, key: str, body: bytes) -> bool:
            super().put_new(key, body)
            return super().put_new(key, body)

    queue = World(shards=1, workers=1, store=Repeating()).worker(0)
    lease = leased(queue)
    queue.extend(lease)
    assert lease.receives == 1


def test_a_holder_that_slept_through_its_lease_loses_it_and_can_harm_nothing() -> None:
    world = World(shards=2, workers=2)
    sleeper, other = world.worker(0), world.worker(1)
    lost = leased(sleeper)
    finish(other, 1)
    world.seconds += LOOK
    assert other.lease() is None  # sees the sleeper's claim for the first time
    world.seconds += LEASE_SECONDS
    again = leased(other)
    assert (again.ticket.shard, again.receives) == (0, 2)
    with pytest.raises(LeaseLostError, match=r"^the lease on .* expired and was lost$"):
        sleeper.extend(lost)
    sleeper.release(lost, spent=False)
    world.seconds += LOOK
    assert sleeper.lease() is None
    other.extend(again)


def test_a_holder_that_slept_and_whose_lease_nobody_took_holds_on() -> None:
    world = World(shards=1, workers=1)
    sleeper = world.worker(0)
    lease = leased(sleeper)
    world.seconds += 100 * LEASE_SECONDS
    sleeper.extend(lease)


def test_a_completed_ticket_ends_the_lease_of_whoever_else_has_it() -> None:
    world = World(shards=1, workers=2)
    sleeper, thief = world.worker(0), world.worker(1)
    lost = leased(sleeper)
    assert thief.lease() is None
    world.seconds += LEASE_SECONDS
    current = leased(thief)
    sleeper.complete(lost)  # it published after all
    with pytest.raises(LeaseLostError):
        thief.extend(current)
    assert sleeper.outstanding() == 0


@pytest.mark.parametrize("ahead", [-1e9, -3600.0, 3600.0, 1e9])
def test_clocks_of_two_workers_are_never_compared(ahead: float) -> None:
    world = World(shards=1, workers=2)
    holder, thief = world.worker(0), world.worker(1, clock_ahead=ahead)
    lease = leased(holder)
    for _ in range(20):
        assert thief.lease() is None
        world.seconds += LEASE_SECONDS / 3
        holder.extend(lease)
    assert thief.lease() is None
    world.seconds += LEASE_SECONDS - 1
    assert thief.lease() is None
    world.seconds += 1
    assert leased(thief).ticket.shard == 0


def test_a_newcomer_watches_a_claim_for_a_whole_lease_before_it_takes_it() -> None:
    world = World(shards=1, workers=2)
    leased(world.worker(0))
    world.seconds += 100 * LEASE_SECONDS
    late = world.worker(1)
    assert late.lease() is None
    world.seconds += LEASE_SECONDS
    assert leased(late).receives == 2


def test_the_same_index_started_again_takes_its_shards_back_at_once() -> None:
    world = World(shards=4, workers=2)
    taken(world.worker(0), 2)
    again = leased(world.worker(0))
    assert (again.ticket.shard, again.receives) == (0, 2)


def test_the_same_index_started_again_leaves_a_thief_its_shard() -> None:
    world = World(shards=2, workers=2)
    thief = world.worker(1)
    assert taken(thief, 2) == [1, 0]
    assert world.worker(0).lease() is None


def test_a_former_self_that_lives_after_all_loses_once_and_does_not_take_back() -> None:
    world = World(shards=1, workers=1)
    former = world.worker(0)
    lost = leased(former)
    newer = world.worker(0)
    current = leased(newer)
    with pytest.raises(LeaseLostError):
        former.extend(lost)
    world.seconds += LOOK
    assert former.lease() is None
    newer.extend(current)


def test_a_released_ticket_is_seen_by_one_who_waits_a_moment_later() -> None:
    world = World(shards=1, workers=2)
    holder, waiting = world.worker(0), world.worker(1)
    lease = leased(holder)
    assert waiting.lease() is None
    holder.release(lease, spent=False)
    world.seconds += LOOK
    assert leased(waiting).receives == 1


def test_parts_that_are_handed_back_reach_other_workers() -> None:
    world = World(shards=1, workers=2)
    holder, waiting = world.worker(0), world.worker(1)
    leased(holder)
    later = Ticket(0, part=5, start=Cursor(0, 100), first=40)
    holder.fill([later])
    world.seconds += LOOK
    assert waiting.outstanding() == 2
    assert leased(waiting).ticket == later


def test_it_is_hungry_when_nothing_is_free_and_a_worker_may_wait() -> None:
    world = World(shards=3, workers=2)
    one, two = world.worker(0), world.worker(1)
    first = leased(one)
    assert not one.hungry()  # shard 2 is free
    one.complete(first)
    last = leased(one)
    assert not one.hungry()  # shard 1 is free
    other = leased(two)
    world.seconds += LOOK
    assert not one.hungry()  # both are at work
    two.complete(other)
    world.seconds += LOOK
    assert one.hungry()
    one.complete(last)


def test_one_worker_alone_is_never_hungry() -> None:
    queue = World(shards=1, workers=1).worker(0)
    leased(queue)
    assert not queue.hungry()


def test_what_is_filled_in_again_is_open_for_every_worker() -> None:
    world = World(shards=2, workers=2)
    one, two = world.worker(0), world.worker(1)
    finish(one, 2)
    world.worker(0).fill([Ticket(1)])
    assert leased(two).ticket.shard == 1
    assert two.outstanding() == 1


def test_a_zombie_s_completion_from_before_a_reopening_counts_for_nothing() -> None:
    world = World(shards=1, workers=1)
    zombie = world.worker(0)
    lost = leased(zombie)
    newer = world.worker(0)
    newer.complete(leased(newer))
    newer.fill([Ticket(0)])
    zombie.complete(lost)
    assert world.worker(0).outstanding() == 1


def test_a_worker_with_shards_of_its_own_never_lists_more_than_their_claims() -> None:
    store = CountingStore()
    world = World(shards=40, workers=4, store=store)
    queue = world.worker(0)
    finish(queue, 1)
    store.calls.clear()
    lease = leased(queue)
    own = ("list", layout.claims_prefix(4, 0))
    assert store.calls == {own: 1, ("put_new", ""): 1}
    queue.extend(lease)
    assert store.calls == {own: 2, ("put_new", ""): 1, ("put", ""): 1}
    queue.complete(lease)
    assert store.calls == {own: 2, ("put_new", ""): 2, ("put", ""): 1}


def test_a_worker_that_waits_lists_everything_once_in_a_twelfth_of_a_lease() -> None:
    store = CountingStore()
    world = World(shards=1, workers=2, store=store)
    holder, waiting = world.worker(0), world.worker(1)
    leased(holder)
    store.calls.clear()
    for _ in range(120):  # a minute, in polls of half a second
        assert waiting.lease() is None
        assert waiting.outstanding() == 1
        assert waiting.given_up() is None
        world.seconds += 0.5
    assert store.calls == {("list", layout.CLAIMS): 12}


def test_a_write_that_fails_is_told() -> None:
    world = World(shards=1, workers=1)
    queue = world.worker(0)
    world.store.fail_next("put_new", StorageError("bucket gone"))
    with pytest.raises(StorageError, match="bucket gone"):
        queue.lease()
    lease = leased(queue)
    world.store.fail_next("put", StorageError("bucket gone"))
    with pytest.raises(StorageError, match="bucket gone"):
        queue.extend(lease)


def test_a_claim_says_who_made_it() -> None:
    world = World(shards=2, workers=2)
    leased(world.worker(1))
    body = json.loads(world.store.get(layout.claim(1, 0, 1)))
    assert body == {"token": "token-0", "index": 1, "beat": 0}


def test_a_damaged_claim_is_nobody_s_and_runs_out() -> None:
    world = World(shards=1, workers=1)
    world.store.put_new(layout.claim(0, 0, 1), b"\xff")
    queue = world.worker(0)
    assert queue.lease() is None
    world.seconds += LEASE_SECONDS
    assert leased(queue).receives == 2


def test_the_number_of_workers_may_change_between_attempts() -> None:
    before = World(shards=9, workers=3)
    finish(before.worker(1), 5)
    after = World(shards=9, workers=2, store=before.store)
    one, two = after.worker(0), after.worker(1)
    assert one.outstanding() == 4
    assert sorted(taken(one, 2) + taken(two, 2)) == sorted({*range(9)} - {1, 4, 7, 6, 8})
