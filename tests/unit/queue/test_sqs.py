"""What SqsQueue does beyond the contract: runs that share a queue, duplicates, faults, counts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gristmill.contract.errors import ConfigError, StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, LeaseLostError
from gristmill.queue.sqs import POLL_SECONDS, QUIET_SECONDS, SENDS, SqsQueue, open_sqs
from gristmill.queue.sqs_calls import BATCH
from tests.doubles.sqs_service import make_queue, sqs_service

LEASE = 60
ATTEMPTS = 3
RUN, OTHER = "s3://runs/mine", "s3://runs/other"


@dataclass
class Desk:
    """A queue in SQS, and what its workers say and ask."""

    client: Any = None
    time: float = 1_000_000.0
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    url: str = ""

    def now(self) -> float:
        return self.time

    def make(self, lease_seconds: int = LEASE, attempts: int | None = ATTEMPTS) -> str:
        self.url = make_queue(self.client, "work", lease_seconds=lease_seconds, attempts=attempts)
        return self.url

    def tell(self, event: str, **fields: Any) -> None:
        self.told.append((event, fields))

    def open(self, run: str = RUN) -> SqsQueue:
        return open_sqs(self.url, run=run, now=self.now, tell=self.tell, poll_seconds=0)

    def put(self, body: str) -> None:
        self.client.send_message(QueueUrl=self.url, MessageBody=body)

    def hear(self, queue: SqsQueue) -> None:
        """Note every call that the queue makes from now on."""

        def note(params: dict[str, Any], model: Any, **_: Any) -> None:
            self.asked.append((model.name, json.loads(params["body"])))

        queue._work._client.meta.events.register("before-call.sqs", note)

    def done(self, queue: SqsQueue) -> Ticket:
        lease = leased(queue)
        queue.complete(lease)
        return lease.ticket

    def calls(self) -> list[str]:
        return [name for name, _ in self.asked]

    def fail(self, queue: SqsQueue, operation: str, code: str) -> None:
        """Every such call is answered with this error."""

        def answer(**_: Any) -> None:
            raise ClientError({"Error": {"Code": code, "Message": ""}}, operation)

        queue._work._client.meta.events.register_first(f"before-call.sqs.{operation}", answer)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk()
    with sqs_service(desk.now, monkeypatch) as desk.client:
        desk.make()
        yield desk


def leased(queue: SqsQueue) -> Lease:
    lease = queue.lease()
    assert lease is not None
    return lease


def test_a_message_names_its_run_and_its_ticket(desk: Desk) -> None:
    desk.open().fill([Ticket(7)])
    found = desk.client.receive_message(QueueUrl=desk.url)["Messages"]
    assert [json.loads(message["Body"]) for message in found] == [
        {"run": RUN, "ticket": '{"shard":7}'}
    ]


def test_the_queue_says_how_long_a_lease_is(desk: Desk) -> None:
    desk.make(lease_seconds=60)
    assert desk.open().lease_seconds == 60


def test_a_count_of_nothing_must_hold_for_a_minute_unless_told_otherwise(desk: Desk) -> None:
    assert desk.open().quiet_seconds == QUIET_SECONDS >= 60
    quick = open_sqs(desk.url, run=RUN, now=desk.now, tell=desk.tell, quiet_seconds=1)
    assert quick.quiet_seconds == 1


def test_one_call_waits_for_a_ticket_at_most_five_seconds(desk: Desk) -> None:
    queue = open_sqs(desk.url, run=RUN, now=desk.now, tell=desk.tell)
    queue.fill([Ticket(1)])
    desk.hear(queue)
    leased(queue)
    ((_, asked),) = desk.asked
    assert asked["WaitTimeSeconds"] == POLL_SECONDS <= 5
    assert asked["VisibilityTimeout"] == LEASE


def test_a_queue_that_can_hold_no_ticket_is_refused(desk: Desk) -> None:
    desk.client.set_queue_attributes(QueueUrl=desk.url, Attributes={"VisibilityTimeout": "0"})
    with pytest.raises(ConfigError, match=r"its visibility timeout is 0 s.*set it to 120 s"):
        desk.open()


def test_without_dead_letters_nothing_is_given_up(desk: Desk) -> None:
    desk.url = make_queue(desk.client, "endless", lease_seconds=LEASE, attempts=None)
    queue = desk.open()
    queue.fill([Ticket(1)])
    for receives in range(1, 10):
        assert leased(queue).receives == receives
        assert queue.given_up() is None
        desk.time += LEASE


# Filling


def test_filling_takes_a_call_for_ten_tickets(desk: Desk) -> None:
    queue = desk.open()
    desk.hear(queue)
    queue.fill(map(Ticket, range(101)))
    assert desk.calls() == ["SendMessageBatch"] * 11
    assert sorted(len(asked["Entries"]) for _, asked in desk.asked) == [1, *[BATCH] * 10]
    assert queue.outstanding() == 101


def test_filling_with_nothing_asks_nothing(desk: Desk) -> None:
    queue = desk.open()
    desk.hear(queue)
    queue.fill([])
    assert desk.calls() == []


class Choosy:
    """SQS that does not take some tickets of a batch."""

    url = "https://sqs/1/q"

    def __init__(self, times: int, *, ours: bool = False) -> None:
        self.times = times
        self.ours = ours
        self.batches: list[list[str]] = []

    def send_batch(self, bodies: list[str]) -> list[Any]:
        from gristmill.queue.sqs_calls import Unsent

        self.batches.append(bodies)
        if len(self.batches) > self.times:
            return []
        return [Unsent(bodies[-1], "InternalError", self.ours)]

    def queue(self) -> SqsQueue:
        calls: Any = self
        return SqsQueue(
            calls, None, run=RUN, now=lambda: 0.0, tell=lambda *_, **__: None, lease_seconds=LEASE
        )


def test_only_what_sqs_did_not_take_is_sent_again() -> None:
    sqs = Choosy(times=2)
    sqs.queue().fill(map(Ticket, range(3)))
    assert [len(batch) for batch in sqs.batches] == [3, 1, 1]
    assert sqs.batches[2] == [sqs.batches[0][-1]]


def test_what_sqs_never_takes_is_named() -> None:
    sqs = Choosy(times=99)
    with pytest.raises(StorageError, match=r"did not take 1 tickets \(InternalError; .*shard.*2"):
        sqs.queue().fill(map(Ticket, range(3)))
    assert len(sqs.batches) == SENDS


def test_what_sqs_blames_on_us_is_not_sent_again() -> None:
    sqs = Choosy(times=99, ours=True)
    with pytest.raises(StorageError, match="did not take 1 tickets"):
        sqs.queue().fill(map(Ticket, range(3)))
    assert len(sqs.batches) == 1


# Runs that share a queue


def test_a_ticket_of_another_run_is_told_given_back_and_not_leased(desk: Desk) -> None:
    desk.open(OTHER).fill([Ticket(1)])
    mine = desk.open()
    assert mine.lease() is None
    assert desk.told == [
        ("foreign_ticket", {"run": OTHER, "ticket": '{"shard":1}', "delay_seconds": 15})
    ]
    assert mine.outstanding() == 1


def test_a_ticket_behind_those_of_another_run_is_found_in_one_call(desk: Desk) -> None:
    desk.open(OTHER).fill(map(Ticket, range(5)))
    mine = desk.open()
    mine.fill([Ticket(9)])
    assert leased(mine).ticket == Ticket(9)


def test_only_the_first_look_of_a_call_waits(desk: Desk) -> None:
    desk.open(OTHER).fill(map(Ticket, range(3)))
    mine = open_sqs(desk.url, run=RUN, now=desk.now, tell=desk.tell, poll_seconds=1)
    desk.hear(mine)
    assert mine.lease() is None
    waits = [asked["WaitTimeSeconds"] for name, asked in desk.asked if name == "ReceiveMessage"]
    assert waits == [1, 0, 0, 0]


def test_passing_on_spends_no_attempt_of_the_other_run(desk: Desk) -> None:
    other, mine = desk.open(OTHER), desk.open()
    other.fill([Ticket(1)])
    for _ in range(3 * ATTEMPTS):
        assert mine.lease() is None
        desk.time += 900
    assert leased(other).receives == 1
    assert other.given_up() is None


def test_the_oftener_a_ticket_is_passed_on_the_longer_it_stays_away(desk: Desk) -> None:
    desk.open(OTHER).fill([Ticket(1)])
    mine = desk.open()
    for _ in range(8):
        mine.lease()
        desk.time += 900
    assert [fields["delay_seconds"] for _, fields in desk.told] == [
        15, 30, 60, 120, 240, 480, 900, 900,
    ]  # fmt: skip


def test_a_released_ticket_was_passed_on_by_nobody(desk: Desk) -> None:
    other, mine = desk.open(OTHER), desk.open()
    other.fill([Ticket(1)])
    for _ in range(3):
        mine.lease()
        desk.time += 900
    other.release(leased(other), spent=False)
    mine.lease()
    assert desk.told[-1][1]["delay_seconds"] == 15


def test_a_dead_letter_of_another_run_is_left_to_it(desk: Desk) -> None:
    other, mine = desk.open(OTHER), desk.open()
    other.fill([Ticket(1)])
    for _ in range(ATTEMPTS):
        leased(other)
        desk.time += LEASE
    assert other.lease() is None
    assert mine.given_up() is None
    desk.time += LEASE
    found = other.given_up()
    assert found is not None
    assert found.ticket == Ticket(1)


@pytest.mark.parametrize(
    "body", ["no JSON", "[]", '{"run": "r"}', json.dumps({"run": RUN, "ticket": "no ticket"})]
)
def test_what_is_no_ticket_is_told_and_soon_a_dead_letter(desk: Desk, body: str) -> None:
    desk.put(body)
    queue = desk.open()
    queue.fill([Ticket(1)])
    assert leased(queue).ticket == Ticket(1)
    assert queue.lease() is None
    assert queue.outstanding() == 1
    assert {event for event, _ in desk.told} == {"unreadable_message"}
    assert queue.given_up() is None


def test_what_is_no_ticket_is_left_alone_where_there_are_no_dead_letters(desk: Desk) -> None:
    desk.url = make_queue(desk.client, "endless", lease_seconds=LEASE, attempts=None)
    desk.put("no ticket")
    assert desk.open().lease() is None
    assert len(desk.told) == 1


# Holding, giving back


def test_a_lease_past_its_time_is_lost_whatever_sqs_says_of_its_handle(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.hear(queue)
    desk.time += LEASE
    with pytest.raises(LeaseLostError, match=r'the lease on \{"shard":1\} expired'):
        queue.extend(lease)
    assert desk.calls() == []


@pytest.mark.parametrize(
    "code", ["InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight"]
)
def test_a_lease_that_sqs_does_not_extend_is_lost(desk: Desk, code: str) -> None:
    """As past its 12 hours."""
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.fail(queue, "ChangeMessageVisibility", code)
    with pytest.raises(LeaseLostError):
        queue.extend(lease)


def test_trouble_with_extending_is_no_lost_lease(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.fail(queue, "ChangeMessageVisibility", "InternalError")
    with pytest.raises(StorageError, match="can't hold a ticket"):
        queue.extend(lease)


def test_a_ticket_is_sent_anew_before_its_old_message_goes(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.hear(queue)
    queue.release(lease, spent=False)
    assert desk.calls() == ["SendMessage", "DeleteMessage"]


def test_a_ticket_that_can_not_be_sent_anew_keeps_its_message(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.fail(queue, "SendMessage", "AccessDenied")
    with pytest.raises(StorageError, match="permission to send tickets"):
        queue.release(lease, spent=False)
    desk.time += LEASE
    assert leased(queue).receives == 2


def test_a_ticket_released_in_doubt_may_be_there_twice_and_is_not_lost(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.fail(queue, "DeleteMessage", "InternalError")
    with pytest.raises(StorageError):
        queue.release(lease, spent=False)
    desk.time += LEASE
    assert [desk.done(desk.open()) for _ in range(2)] == [Ticket(1)] * 2
    assert queue.outstanding() == 0


def test_a_second_message_of_a_held_ticket_is_held_too(desk: Desk) -> None:
    """The first may be gone: SQS delivered it twice, and its other worker gave it back anew."""
    mine, other = desk.open(), desk.open()
    mine.fill([Ticket(1)])
    first = leased(mine)
    handle = first.token
    other._work.send(other._body(Ticket(1)))
    other._work.delete(handle)
    second = leased(mine)
    assert second.ticket == Ticket(1)
    assert mine.outstanding() == 1
    mine.complete(first)
    mine.complete(second)
    assert mine.outstanding() == 0


def test_a_dead_letter_given_back_is_told_again_at_once(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    for _ in range(ATTEMPTS):
        leased(queue)
        desk.time += LEASE
    assert queue.lease() is None
    dead = queue.given_up()
    assert dead is not None
    queue.extend(dead)
    queue.release(dead, spent=False)
    assert queue.given_up() is not None
    assert queue.outstanding() == 0


def test_completing_a_handle_that_sqs_has_forgotten_is_harmless(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    lease = leased(queue)
    desk.fail(queue, "DeleteMessage", "ReceiptHandleIsInvalid")
    queue.complete(lease)


def test_a_ticket_completed_by_a_process_that_never_leased_it_is_removed(desk: Desk) -> None:
    first, second = desk.open(), desk.open()
    first.fill([Ticket(1)])
    second.complete(leased(first))
    assert first.outstanding() == 0


# Counting


@dataclass
class Counted:
    """SQS's counts."""

    url: str = "https://sqs/1/q"
    counts: tuple[int, int, int] = (0, 0, 0)
    looks: int = 0

    def attributes(self, *names: str) -> dict[str, str]:
        self.looks += 1
        return {name: str(count) for name, count in zip(names, self.counts, strict=True)}


@pytest.mark.parametrize(
    ("counts", "outstanding", "hungry"),
    [
        ((0, 0, 0), 0, False),
        ((3, 0, 0), 3, False),
        ((0, 2, 0), 2, True),
        ((0, 0, 4), 4, False),
        ((3, 2, 4), 9, False),
    ],
)
def test_everything_counts_as_outstanding_and_only_held_tickets_make_hungry(
    counts: tuple[int, int, int], outstanding: int, hungry: bool
) -> None:
    calls: Any = Counted(counts=counts)
    queue = SqsQueue(
        calls, None, run=RUN, now=lambda: 0.0, tell=lambda *_, **__: None, lease_seconds=LEASE
    )
    assert queue.outstanding() == outstanding
    assert queue.hungry() is hungry


def test_hunger_is_asked_for_every_five_seconds_at_most() -> None:
    calls: Any = Counted(counts=(0, 1, 0))
    time = [0.0]
    queue = SqsQueue(
        calls, None, run=RUN, now=lambda: time[0], tell=lambda *_, **__: None, lease_seconds=LEASE
    )
    for time[0] in (0.0, 2.0, 4.9):
        assert queue.hungry()
    assert calls.looks == 1
    calls.counts, time[0] = (1, 1, 0), 5.0
    assert not queue.hungry()
    assert calls.looks == 2


def test_whoever_was_hungry_has_something_to_take_after_a_fill(desk: Desk) -> None:
    queue = desk.open()
    queue.fill([Ticket(1)])
    leased(queue)
    desk.time += 5
    assert queue.hungry()
    queue.fill([Ticket(2)])
    assert not queue.hungry()
    leased(queue)
    assert not queue.hungry()
    desk.time += 5
    assert queue.hungry()
