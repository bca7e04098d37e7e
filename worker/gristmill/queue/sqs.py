"""SqsQueue: a lease is the visibility timeout of a message in SQS, shared by any machines.

SQS delivers at least once and in no order, counts roughly, and knows nothing of runs. So a message
names its run, what was done twice is harmless (the manifests see to that), and a count of nothing
must hold for a while. See docs/decisions/0008-sqs.md.
"""

import json
import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from gristmill.contract.errors import ConfigError, StorageError
from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, LeaseLostError, Tell
from gristmill.queue.sqs_calls import (
    BATCH,
    CALLS_AT_ONCE,
    HandleLostError,
    Message,
    SqsCalls,
    connect,
)

POLL_SECONDS: Final = 5
"""Longest wait for a ticket in one call: a worker that is told to stop has 30 s in all."""
QUIET_SECONDS: Final = 60.0
"""AWS's reference of GetQueueAttributes: the counts may be inconsistent until at least a minute
after the last message was sent."""
HUNGRY_SECONDS: Final = 5.0
"""How long an answer about waiting workers is kept."""
LOOKS: Final = 10
"""Tickets of other runs passed over in one call."""
SENDS: Final = 5
"""Times that a message of a batch is sent that SQS does not take."""
_DELAY: Final = 15
_LONGEST_DELAY: Final = 900
"""SQS's own limit."""
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class Envelope(BaseModel):
    """The body of a message."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    """URI of the run directory."""
    ticket: str
    returned: int = 0
    """How often workers of other runs gave it back."""

    def encode(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


@dataclass(slots=True)
class _Held:
    """A message in flight in this process."""

    calls: SqsCalls
    expires: float
    progressed: bool = False


class SqsQueue:
    """A WorkQueue of one run. `dead` is where SQS moves messages that were received `attempts`
    times; None: nothing is ever given up. `tell` hears of messages that are not this run's."""

    def __init__(
        self,
        work: SqsCalls,
        dead: SqsCalls | None,
        *,
        run: str,
        now: Callable[[], float],
        tell: Tell,
        lease_seconds: int,
        attempts: int = 0,
        quiet_seconds: float = QUIET_SECONDS,
        poll_seconds: int = POLL_SECONDS,
    ) -> None:
        self._work = work
        self._dead = dead
        self._run = run
        self._now = now
        self._tell = tell
        self._lease_seconds = lease_seconds
        self._attempts = attempts
        self._quiet_seconds = quiet_seconds
        self._poll_seconds = poll_seconds
        self._held: dict[str, _Held] = {}
        self._hungry = False
        self._hungry_until = -math.inf

    @property
    def lease_seconds(self) -> float:
        return self._lease_seconds

    @property
    def quiet_seconds(self) -> float:
        return self._quiet_seconds

    def fill(self, tickets: Iterable[Ticket]) -> None:
        """Ten a call, several calls at once. Raises StorageError naming what is not sent."""
        left = [self._body(ticket) for ticket in tickets]
        with ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="sqs") as pool:
            for _ in range(SENDS):
                batches = [left[at : at + BATCH] for at in range(0, len(left), BATCH)]
                unsent = [one for some in pool.map(self._work.send_batch, batches) for one in some]
                if not unsent:
                    # So that whoever divides a ticket does not divide it again at once.
                    self._hungry, self._hungry_until = False, self._now() + HUNGRY_SECONDS
                    return
                left = [one.body for one in unsent]
                if any(one.ours for one in unsent):
                    break
        worst = next((one for one in unsent if one.ours), unsent[0])
        raise StorageError(
            f"{self._work.url}: SQS did not take {len(unsent)} tickets ({worst.code}; one is "
            f"{worst.body}); run it again: what is sent twice is harmless"
        )

    def lease(self) -> Lease | None:
        wait = self._poll_seconds
        for _ in range(LOOKS):
            asked = self._now()
            message = self._work.receive(self._lease_seconds, wait)
            if message is None:
                return None
            match self._read(message):
                case Ticket() as ticket:
                    return self._hold(self._work, message, ticket, asked)
                case Envelope() as foreign:
                    self._pass_on(message, foreign)
                case None if self._dead is not None:
                    # Each receive counts, so that SQS soon moves it to the dead letters.
                    with suppress(HandleLostError):
                        self._work.hide(message.handle, 0)
            wait = 0
        return None

    def extend(self, lease: Lease) -> None:
        # The clock first: SQS may still honour the handle of a lease that ran out.
        held, asked = self._held.get(lease.token), self._now()
        if held is not None and asked < held.expires:
            with suppress(HandleLostError):
                held.calls.hide(lease.token, self._lease_seconds)
                held.expires = asked + self._lease_seconds
                return
        self._held.pop(lease.token, None)
        raise LeaseLostError(f"the lease on {lease.ticket.encode()} expired and was lost")

    def release(self, lease: Lease, *, spent: bool) -> None:
        held = self._held.pop(lease.token, None)
        if held is None or self._now() >= held.expires:
            return
        if (spent and not held.progressed) or held.calls is self._dead:
            with suppress(HandleLostError):
                held.calls.hide(lease.token, 0)
        else:
            self._send_anew(lease.token, self._body(lease.ticket), 0)

    def complete(self, lease: Lease) -> None:
        held = self._held.pop(lease.token, None)
        with suppress(HandleLostError):
            (held.calls if held else self._work).delete(lease.token)

    def progressed(self, lease: Lease) -> None:
        """Makes its release one with no attempt spent. A killed process releases nothing, and
        that SQS counts: it can't be told before."""
        if (held := self._held.get(lease.token)) is not None:
            held.progressed = True

    def outstanding(self) -> int:
        return sum(self._counts())

    def hungry(self) -> bool:
        if (asked := self._now()) >= self._hungry_until:
            visible, in_flight, _ = self._counts()
            self._hungry = visible == 0 and in_flight > 0
            self._hungry_until = asked + HUNGRY_SECONDS
        return self._hungry

    def given_up(self) -> Lease | None:
        if self._dead is None:
            return None
        for _ in range(LOOKS):
            asked = self._now()
            # A wait of a second makes SQS ask all its servers.
            message = self._dead.receive(self._lease_seconds, min(1, self._poll_seconds))
            if message is None:
                return None
            if isinstance(ticket := self._read(message), Ticket):
                lease = self._hold(self._dead, message, ticket, asked)
                # What SQS counts on in the dead letters is not in its reference.
                return replace(lease, receives=self._attempts + 1)
            # Of another run: hidden from everybody for the time of a lease, then there again.
        return None

    def _body(self, ticket: Ticket) -> str:
        return Envelope(run=self._run, ticket=ticket.encode()).encode()

    def _hold(self, calls: SqsCalls, message: Message, ticket: Ticket, asked: float) -> Lease:
        self._held[message.handle] = _Held(calls, asked + self._lease_seconds)
        return Lease(ticket=ticket, token=message.handle, receives=message.receives)

    def _counts(self) -> tuple[int, int, int]:
        """Visible, in flight, delayed."""
        found = self._work.attributes(*_COUNTS)
        visible, in_flight, delayed = (int(found.get(name, 0)) for name in _COUNTS)
        return visible, in_flight, delayed

    def _pass_on(self, message: Message, envelope: Envelope) -> None:
        """Back to its own run, with no attempt spent; later each time, so that what a run left
        behind does not keep the workers of the next one busy."""
        delay = min(_DELAY * 2 ** min(envelope.returned, 10), _LONGEST_DELAY)
        self._tell("foreign_ticket", run=envelope.run, ticket=envelope.ticket, delay_seconds=delay)
        again = envelope.model_copy(update={"returned": envelope.returned + 1})
        self._send_anew(message.handle, again.encode(), delay)

    def _send_anew(self, handle: str, body: str, delay: int) -> None:
        """SQS can't take a receive back. In this order: twice is harmless, never is not."""
        self._work.send(body, delay)
        with suppress(HandleLostError):
            self._work.delete(handle)

    def _read(self, message: Message) -> Ticket | Envelope | None:
        """A ticket of this run, the envelope of another run's, or None: told, and no use to us."""
        try:
            envelope = Envelope.model_validate_json(message.body)
            return Ticket.decode(envelope.ticket) if envelope.run == self._run else envelope
        except (ValidationError, StorageError) as error:
            self._tell("unreadable_message", queue=self._work.url, message=str(error)[:500])
            return None


def open_sqs(
    url: str,
    *,
    run: str,
    now: Callable[[], float],
    tell: Tell,
    quiet_seconds: float = QUIET_SECONDS,
    poll_seconds: int = POLL_SECONDS,
) -> SqsQueue:
    """The queue says itself how long a lease is and where its dead letters go.

    Raises ConfigError, StorageError.
    """
    client = connect(url)
    work = SqsCalls(client, url)
    found = work.attributes("VisibilityTimeout", "RedrivePolicy")
    lease_seconds = int(found["VisibilityTimeout"])
    if lease_seconds == 0:
        raise ConfigError(
            f"sqs:{url}: its visibility timeout is 0 s, so that no ticket can be held; set it to "
            "120 s or so: it is the time after which a dead worker's ticket is free"
        )
    redrive = json.loads(found.get("RedrivePolicy", "null"))
    return SqsQueue(
        work,
        SqsCalls(client, _dead_url(url, redrive["deadLetterTargetArn"])) if redrive else None,
        run=run,
        now=now,
        tell=tell,
        lease_seconds=lease_seconds,
        attempts=int(redrive["maxReceiveCount"]) if redrive else 0,
        quiet_seconds=quiet_seconds,
        poll_seconds=poll_seconds,
    )


def _dead_url(url: str, arn: str) -> str:
    """It is always of the same account and region."""
    return f"{url.rpartition('/')[0]}/{arn.rpartition(':')[2]}"
