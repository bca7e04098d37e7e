"""IndexedQueue: worker i of N, with no service but the run's object store.

Shards whose number leaves i when divided by N are a worker's own and come first; when they are
done it steals from the worker that is furthest behind. A lease is an object that only one can
create, and lasts for as long as whoever asks sees it change. docs/decisions/0007-claims.md.

Requests: a lease on an own shard 1 list of a few keys, 1 put; a heartbeat the same; a release or
completion 1 put. All of `claims/` is listed at the start, before stealing, and by a worker that
waits, at most once in a twelfth of a lease. Parts that are handed back are tickets like any other.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from threading import Lock
from typing import Final

from gristmill.contract import layout
from gristmill.contract.ticket import Ticket
from gristmill.queue.claims import Claims, ClaimStore, Standing, read_claims
from gristmill.queue.protocol import Lease, LeaseLostError

_LOOKS_PER_LEASE: Final = 12
_MARK: Final = b"{}\n"

Order = tuple[int, int]


class IndexedQueue:
    """A WorkQueue. What it remembers of others is a hint: before a ticket is taken it is looked
    at again, and of two who then try one creates the claim."""

    def __init__(
        self,
        store: ClaimStore,
        *,
        shards: int,
        index: int,
        workers: int,
        monotonic: Callable[[], float],
        token: Callable[[], str],
        lease_seconds: float,
        attempts: int,
    ) -> None:
        """`shards` is the plan's: one ticket each, without being filled in."""
        self._store = store
        self._index = index
        self._workers = workers
        self._monotonic = monotonic
        self._token = token
        self._lease_seconds = lease_seconds
        self._attempts = attempts
        self._beats = count(1)
        self._known = {(shard, 0): Standing(Ticket(shard)) for shard in range(shards)}
        self._looked: float | None = None
        self._deciding = Lock()

    @property
    def lease_seconds(self) -> float:
        return self._lease_seconds

    @property
    def quiet_seconds(self) -> float:
        return 0.0

    def fill(self, tickets: Iterable[Ticket]) -> None:
        looked = False
        with self._deciding:
            for ticket in tickets:
                if ticket.order not in self._known and self._add(ticket):
                    continue
                if not looked:
                    self._look()
                    looked = True
                self._reopen(self._known[ticket.order])

    def lease(self) -> Lease | None:
        with self._deciding:
            return self._take(spent=False)

    def given_up(self) -> Lease | None:
        with self._deciding:
            return self._take(spent=True)

    def extend(self, lease: Lease) -> None:
        generation, token = _parse(lease.token)
        found = self._look_at(self._known[lease.ticket.order])
        if found.top != generation or not found.claimed or found.done:
            raise LeaseLostError(f"the lease on {lease.ticket.encode()} expired and was lost")
        key = layout.claim(*lease.ticket.order, generation)
        self._store.put(key, self._body(token, next(self._beats)))
        self._know(replace(found, beat=None, since=self._monotonic()))

    def release(self, lease: Lease, *, spent: bool) -> None:
        self._mark(lease, "failed" if spent else "released")

    def complete(self, lease: Lease) -> None:
        self._mark(lease, "done")

    def progressed(self, lease: Lease) -> None:
        self._mark(lease, "progressed")

    def outstanding(self) -> int:
        with self._deciding:
            self._look_if_due()
            return sum(
                not known.done and (self._held(known) or not self._spent(known))
                for known in self._known.values()
            )

    def hungry(self) -> bool:
        """By counting: nothing is free, and fewer leases are held than there are workers."""
        with self._deciding:
            if any(self._is_own(known) and self._free(known) for known in self._known.values()):
                return False
            self._look_if_due()
            if any(map(self._free, self._known.values())):
                return False
            return sum(map(self._held, self._known.values())) < self._workers

    def _take(self, *, spent: bool) -> Lease | None:
        if self._looked is None:
            self._look()
            self._free_own_past()
        lease = self._first(self._own(spent=spent), spent=spent)
        if lease is None:
            self._look_if_due()
            rest = [*self._own(spent=spent), *self._others(spent=spent)]
            lease = self._first(rest, spent=spent)
        return lease

    def _own(self, *, spent: bool) -> list[Standing]:
        return sorted(
            (k for k in self._known.values() if self._is_own(k) and self._free(k, spent=spent)),
            key=lambda known: known.ticket.order,
        )

    def _others(self, *, spent: bool) -> list[Standing]:
        """The last shards of the worker that is furthest behind come first: it will be there
        last."""
        behind = Counter(self._owner(k) for k in self._known.values() if not k.done)

        def worth(known: Standing) -> tuple[int, int, int, int]:
            owner, (shard, part) = self._owner(known), known.ticket.order
            return -behind[owner], owner, -shard, part

        free = (k for k in self._known.values() if self._free(k, spent=spent))
        return sorted((known for known in free if not self._is_own(known)), key=worth)

    def _first(self, candidates: Iterable[Standing], *, spent: bool) -> Lease | None:
        """A lease on the first that is still as free as it seemed."""
        for known in candidates:
            found = self._look_at(known)
            if self._free(found, spent=spent) and (lease := self._claim(found)) is not None:
                return lease
        return None

    def _claim(self, found: Standing) -> Lease | None:
        order, generation, token = found.ticket.order, found.top + 1, self._token()
        key = layout.claim(*order, generation)
        # A put that is repeated, its answer having been lost, finds what it wrote itself.
        won = self._store.put_new(key, self._body(token, 0)) or (
            _field(self._store.get(key), "token") == token
        )
        found = replace(
            found,
            top=generation,
            receives=found.receives + 1,
            claimed=True,
            beat=None if won else "",
            since=self._monotonic(),
        )
        self._know(found)
        return Lease(found.ticket, f"{generation}-{token}", found.receives) if won else None

    def _add(self, ticket: Ticket) -> bool:
        """A ticket outside the plan. False: it was there."""
        key = layout.claim_ticket(*ticket.order)
        if not self._store.put_new(key, ticket.encode().encode()):
            return False
        self._known[ticket.order] = Standing(ticket)
        return True

    def _reopen(self, known: Standing) -> None:
        """If it is completed or given up."""
        if known.done or (self._spent(known) and not self._held(known)):
            self._store.put_new(layout.claim(*known.ticket.order, known.top, "reopened"), _MARK)
            self._know(replace(known, opened=known.top, receives=0, claimed=False, done=False))

    def _mark(self, lease: Lease, kind: str) -> None:
        """No look before: a mark on a lease that was lost takes nothing from a later one."""
        order, (generation, _) = lease.ticket.order, _parse(lease.token)
        self._store.put_new(layout.claim(*order, generation, kind), _MARK)
        known = self._known[order]
        if kind == "done":
            self._know(replace(known, done=known.done or generation > known.opened))
        elif kind == "progressed":
            self._know(replace(known, receives=known.top - generation))
        elif known.top == generation and known.claimed:
            unspent = 1 if kind == "released" else 0
            left = max(0, known.receives - unspent)
            self._know(replace(known, receives=left, claimed=False))

    def _look_if_due(self) -> None:
        pause = self._lease_seconds / _LOOKS_PER_LEASE
        if self._looked is None or self._monotonic() - self._looked >= pause:
            self._look()

    def _look(self) -> None:
        """At everything."""
        claims, tickets = read_claims(self._store.list(layout.CLAIMS))
        self._looked = self._monotonic()
        for key in tickets:
            if (key.shard, key.part) not in self._known:
                body = self._store.get(layout.claim_ticket(key.shard, key.part))
                self._known[key.shard, key.part] = Standing(Ticket.decode(body.decode()))
        for order, known in self._known.items():
            self._know(known.seen(claims.get(order, Claims()), self._looked))

    def _look_at(self, known: Standing) -> Standing:
        order = known.ticket.order
        claims, _ = read_claims(self._store.list(layout.claims_prefix(*order)))
        found = known.seen(claims.get(order, Claims()), self._monotonic())
        self._know(found)
        return found

    def _free_own_past(self) -> None:
        """What this index claimed before this process began is free at once: jobs run an index
        once at a time. Should two run after all, the older one loses its lease at its next beat."""
        for order, known in self._known.items():
            if self._is_own(known) and not known.done and self._held(known):
                body = self._store.get(layout.claim(*order, known.top))
                if _field(body, "index") == self._index:
                    self._know(replace(known, since=float("-inf")))

    def _know(self, found: Standing) -> None:
        # Of a ticket that is known already, so that a beat disturbs no one who goes through all.
        self._known[found.ticket.order] = found

    def _owner(self, known: Standing) -> int:
        return known.ticket.shard % self._workers

    def _is_own(self, known: Standing) -> bool:
        return self._owner(known) == self._index

    def _held(self, known: Standing) -> bool:
        return not known.done and known.held(self._monotonic(), self._lease_seconds)

    def _spent(self, known: Standing) -> bool:
        return known.receives >= self._attempts

    def _free(self, known: Standing, *, spent: bool = False) -> bool:
        return not known.done and not self._held(known) and self._spent(known) is spent

    def _body(self, token: str, beat: int) -> bytes:
        fields = {"token": token, "index": self._index, "beat": beat}
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _parse(token: str) -> tuple[int, str]:
    generation, _, token = token.partition("-")
    return int(generation), token


def _field(body: bytes, name: str) -> object:
    """Of a claim; None when it is damaged, which then is no claim of ours."""
    try:
        return json.loads(body).get(name)
    except (ValueError, AttributeError):
        return None
