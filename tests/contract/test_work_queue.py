"""What every WorkQueue promises."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gristmill.contract.shard import Cursor
from gristmill.contract.ticket import Ticket
from gristmill.queue.indexed import IndexedQueue
from gristmill.queue.local import LocalQueue
from gristmill.queue.protocol import Lease, LeaseLostError, WorkQueue, silent
from gristmill.queue.sqs import open_sqs
from gristmill.store.local import LocalDisk
from gristmill.store.open import open_store
from gristmill.store.protocol import ObjectStore
from tests.doubles.memory_queue import MemoryQueue
from tests.doubles.memory_store import MemoryStore
from tests.doubles.sqs_service import make_queue, sqs_service

LEASE_SECONDS = 60.0
ATTEMPTS = 3


class Hand:
    """A clock that stands until it is turned."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def hand() -> Hand:
    return Hand()


EXACT = ["local", "indexed", "indexed-disk", "indexed-s3", "double"]
"""They know their tickets: one that is there stays one, they come in order, and attempts that got
further don't count. SQS promises none of that; docs/decisions/0008-sqs.md says what it costs."""


@pytest.fixture(params=[*EXACT, "sqs"])
def queue(request: pytest.FixtureRequest, tmp_path: Path, hand: Hand) -> WorkQueue:
    return made(request, tmp_path, hand)


@pytest.fixture(params=EXACT)
def exact_queue(request: pytest.FixtureRequest, tmp_path: Path, hand: Hand) -> WorkQueue:
    return made(request, tmp_path, hand)


def made(request: pytest.FixtureRequest, tmp_path: Path, hand: Hand) -> WorkQueue:
    numbers = count()

    def token() -> str:
        return f"token-{next(numbers)}"

    if request.param == "sqs":
        client = request.getfixturevalue("sqs")
        url = make_queue(client, "work", lease_seconds=int(LEASE_SECONDS), attempts=ATTEMPTS)
        return open_sqs(url, run="s3://runs/r", now=hand.now, tell=silent, poll_seconds=0)
    if request.param == "double":
        return MemoryQueue(
            now=hand.now, token=token, lease_seconds=LEASE_SECONDS, attempts=ATTEMPTS
        )
    if request.param.startswith("indexed"):
        return IndexedQueue(
            claim_store(request, tmp_path),
            shards=0,
            index=0,
            workers=1,
            monotonic=hand.now,
            token=token,
            lease_seconds=LEASE_SECONDS,
            attempts=ATTEMPTS,
        )
    return LocalQueue(
        tmp_path / "queue.sqlite",
        now=hand.now,
        token=token,
        owner="me",
        alive=lambda _: True,
        lease_seconds=LEASE_SECONDS,
        attempts=ATTEMPTS,
    )


@pytest.fixture
def sqs(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with sqs_service(hand.now, monkeypatch) as client:
        yield client


def claim_store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "indexed-s3":
        return open_store(f"s3://{request.getfixturevalue('s3_bucket')}/runs/r")
    return LocalDisk(tmp_path / "run") if request.param == "indexed-disk" else MemoryStore()


def leased(queue: WorkQueue) -> Lease:
    lease = queue.lease()
    assert lease is not None
    return lease


def spend(queue: WorkQueue, hand: Hand) -> None:
    """Every attempt of every ticket that is there, and ask once more."""
    for _ in range(ATTEMPTS):
        leased(queue)
        hand.time += LEASE_SECONDS
    assert queue.lease() is None


def test_an_empty_queue_has_no_work(queue: WorkQueue) -> None:
    assert queue.lease() is None
    assert queue.outstanding() == 0


def test_every_shard_is_leased_once(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [5, 3, 11]))
    assert sorted(leased(queue).ticket.shard for _ in range(3)) == [3, 5, 11]
    assert queue.lease() is None


def test_shards_are_leased_in_order(exact_queue: WorkQueue) -> None:
    exact_queue.fill(map(Ticket, [5, 3, 11]))
    assert [leased(exact_queue).ticket.shard for _ in range(3)] == [3, 5, 11]


def test_filling_twice_is_filling_once(exact_queue: WorkQueue) -> None:
    exact_queue.fill(map(Ticket, [1, 2]))
    exact_queue.fill(map(Ticket, iter([2, 3])))
    assert exact_queue.outstanding() == 3


def test_filling_again_opens_no_second_lease(exact_queue: WorkQueue) -> None:
    exact_queue.fill(map(Ticket, [1]))
    leased(exact_queue)
    exact_queue.fill(map(Ticket, [1]))
    assert exact_queue.lease() is None
    assert exact_queue.outstanding() == 1


def test_filling_again_takes_no_lease_away_and_loses_no_ticket(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [1]))
    held = leased(queue)
    queue.fill(map(Ticket, [1, 2]))
    queue.extend(held)
    rest = [lease.ticket.shard for lease in iter(queue.lease, None)]
    assert set(rest) - {1} == {2}


def test_a_ticket_filled_twice_is_over_once_every_lease_on_it_is_completed(
    queue: WorkQueue,
) -> None:
    queue.fill(map(Ticket, [1]))
    queue.fill(map(Ticket, [1]))
    for lease in iter(queue.lease, None):
        queue.complete(lease)
    assert queue.outstanding() == 0


def test_filling_opens_a_completed_shard_again(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [1]))
    queue.complete(leased(queue))
    queue.fill(map(Ticket, [1]))
    assert leased(queue).ticket.shard == 1


def test_leased_shards_are_outstanding_and_completed_ones_are_not(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [1, 2]))
    first, second = leased(queue), leased(queue)
    assert queue.outstanding() == 2
    queue.complete(first)
    assert queue.outstanding() == 1
    queue.complete(second)
    assert queue.outstanding() == 0


def test_a_completed_shard_is_never_leased_again(queue: WorkQueue, hand: Hand) -> None:
    queue.fill(map(Ticket, [1]))
    queue.complete(leased(queue))
    hand.time += 10 * LEASE_SECONDS
    assert queue.lease() is None


def test_a_released_ticket_is_free_at_once_and_has_spent_no_attempt(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [1]))
    first = leased(queue)
    queue.release(first, spent=False)
    again = leased(queue)
    assert (again.ticket.shard, again.receives) == (1, 1)
    assert again.token != first.token
    assert queue.lease() is None


def test_a_released_ticket_goes_back_to_its_place(exact_queue: WorkQueue) -> None:
    exact_queue.fill(map(Ticket, [1, 2]))
    exact_queue.release(leased(exact_queue), spent=False)
    assert leased(exact_queue).ticket.shard == 1


def test_an_attempt_that_failed_is_spent_though_the_ticket_is_free_at_once(
    queue: WorkQueue,
) -> None:
    queue.fill(map(Ticket, [1]))
    for receives in range(1, ATTEMPTS + 1):
        lease = leased(queue)
        assert lease.receives == receives
        queue.release(lease, spent=True)
    assert queue.lease() is None
    assert queue.given_up() is not None


def test_a_ticket_that_gets_further_before_each_failure_is_not_given_up(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [1]))
    for _ in range(3 * ATTEMPTS):
        lease = leased(queue)
        queue.progressed(lease)
        queue.release(lease, spent=True)
    assert queue.given_up() is None
    for _ in range(ATTEMPTS):
        queue.release(leased(queue), spent=True)
    assert queue.lease() is None
    assert queue.given_up() is not None


def test_a_ticket_that_gets_further_before_each_kill_is_not_given_up(
    exact_queue: WorkQueue, hand: Hand
) -> None:
    exact_queue.fill(map(Ticket, [1]))
    for _ in range(3 * ATTEMPTS):
        exact_queue.progressed(leased(exact_queue))
        hand.time += LEASE_SECONDS
    assert exact_queue.given_up() is None
    for _ in range(ATTEMPTS):
        leased(exact_queue)
        hand.time += LEASE_SECONDS
    assert exact_queue.lease() is None
    assert exact_queue.given_up() is not None


def test_an_expired_lease_passes_to_another_worker(queue: WorkQueue, hand: Hand) -> None:
    queue.fill(map(Ticket, [1]))
    lost = leased(queue)
    hand.time += LEASE_SECONDS
    again = leased(queue)
    assert (again.ticket.shard, again.receives) == (1, 2)
    with pytest.raises(LeaseLostError):
        queue.extend(lost)
    queue.extend(again)


def test_an_extended_lease_holds(queue: WorkQueue, hand: Hand) -> None:
    queue.fill(map(Ticket, [1]))
    lease = leased(queue)
    for _ in range(5):
        hand.time += LEASE_SECONDS * 0.9
        queue.extend(lease)
        assert queue.lease() is None


def test_a_released_lease_can_not_be_extended(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, [1]))
    lease = leased(queue)
    queue.release(lease, spent=False)
    with pytest.raises(LeaseLostError):
        queue.extend(lease)


def test_releasing_a_lost_lease_takes_nothing_from_its_new_holder(
    queue: WorkQueue, hand: Hand
) -> None:
    queue.fill(map(Ticket, [1]))
    lost = leased(queue)
    hand.time += LEASE_SECONDS
    current = leased(queue)
    queue.release(lost, spent=False)
    assert queue.lease() is None
    queue.extend(current)


@pytest.mark.parametrize("end", ["complete", "release"])
def test_ending_a_lease_twice_is_harmless(queue: WorkQueue, hand: Hand, end: str) -> None:
    queue.fill(map(Ticket, [1]))
    lost = leased(queue)
    hand.time += LEASE_SECONDS
    queue.complete(leased(queue))
    if end == "complete":
        queue.complete(lost)
    else:
        queue.release(lost, spent=True)
    assert queue.outstanding() == 0


def test_every_lease_has_its_own_token(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, range(5)))
    tokens = {leased(queue).token for _ in range(5)}
    assert len(tokens) == 5


def test_no_shard_is_leased_twice_at_once(queue: WorkQueue) -> None:
    queue.fill(map(Ticket, range(40)))

    def work(_: int) -> list[int]:
        taken = []
        while (lease := queue.lease()) is not None:
            taken.append(lease.ticket.shard)
        return taken

    with ThreadPoolExecutor(8) as threads:
        taken = Counter(shard for shards in threads.map(work, range(8)) for shard in shards)
    assert taken == Counter(range(40))


def test_a_ticket_for_some_parts_comes_back_as_it_was_and_beside_the_whole_shard(
    queue: WorkQueue,
) -> None:
    later = Ticket(1, part=7, stop=9, start=Cursor(2, 4096), first=448)
    queue.fill([later, Ticket(1), Ticket(0)])
    found = [leased(queue).ticket for _ in range(3)]
    assert sorted(found, key=lambda ticket: ticket.order) == [Ticket(0), Ticket(1), later]
    assert queue.lease() is None
    assert queue.outstanding() == 3


def test_a_ticket_for_some_parts_has_a_place_of_its_own(exact_queue: WorkQueue) -> None:
    later = Ticket(1, part=7, stop=9, start=Cursor(2, 4096), first=448)
    exact_queue.fill([later, Ticket(1), Ticket(0)])
    exact_queue.fill([later])
    assert [leased(exact_queue).ticket for _ in range(3)] == [Ticket(0), Ticket(1), later]
    assert exact_queue.lease() is None


def test_a_ticket_whose_attempts_are_spent_is_given_up_and_not_leased(
    queue: WorkQueue, hand: Hand
) -> None:
    queue.fill(map(Ticket, [1]))
    for receives in range(1, ATTEMPTS + 1):
        assert leased(queue).receives == receives
        assert queue.given_up() is None
        hand.time += LEASE_SECONDS
    assert queue.lease() is None
    assert queue.outstanding() == 0
    dead = queue.given_up()
    assert dead is not None
    assert (dead.ticket, dead.receives) == (Ticket(1), ATTEMPTS + 1)
    assert queue.given_up() is None
    queue.complete(dead)
    hand.time += 10 * LEASE_SECONDS
    assert queue.given_up() is None


def test_a_given_up_ticket_that_nobody_recorded_is_told_again(queue: WorkQueue, hand: Hand) -> None:
    queue.fill(map(Ticket, [1]))
    spend(queue, hand)
    assert queue.given_up() is not None
    hand.time += LEASE_SECONDS
    assert queue.given_up() is not None


def test_filling_opens_a_ticket_that_was_given_up_with_all_its_attempts(
    queue: WorkQueue, hand: Hand
) -> None:
    queue.fill(map(Ticket, [1]))
    spend(queue, hand)
    dead = queue.given_up()
    assert dead is not None
    queue.complete(dead)
    queue.fill(map(Ticket, [1]))
    assert leased(queue).receives == 1


def test_it_says_how_long_a_lease_lasts(queue: WorkQueue) -> None:
    assert queue.lease_seconds == LEASE_SECONDS
