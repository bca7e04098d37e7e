"""MemoryQueue: a WorkQueue in a dict, for workers of one process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, LeaseLostError


@dataclass(slots=True)
class _State:
    ticket: Ticket
    receives: int = 0
    token: str | None = None
    expires: float = 0.0
    done: bool = False


class MemoryQueue:
    def __init__(
        self,
        *,
        now: Callable[[], float],
        token: Callable[[], str],
        lease_seconds: float = 60,
        attempts: int = 10_000,
    ) -> None:
        self._now = now
        self._token = token
        self._lease_seconds = lease_seconds
        self._attempts = attempts
        self._states: dict[tuple[int, int], _State] = {}
        self._asked_in_vain = float("-inf")
        self._lock = Lock()

    @property
    def lease_seconds(self) -> float:
        return self._lease_seconds

    @property
    def quiet_seconds(self) -> float:
        return 0.0

    def fill(self, tickets: Iterable[Ticket]) -> None:
        with self._lock:
            for ticket in tickets:
                state = self._states.get(ticket.order)
                if state is None or state.done or (self._free(state) and self._spent(state)):
                    self._states[ticket.order] = _State(ticket)

    def lease(self) -> Lease | None:
        with self._lock:
            lease = self._take(spent=False)
            if lease is None:
                self._asked_in_vain = self._now()
            return lease

    def extend(self, lease: Lease) -> None:
        with self._lock:
            state = self._states[lease.ticket.order]
            if state.token != lease.token:
                raise LeaseLostError(f"the lease on {lease.ticket} expired and was lost")
            state.expires = self._now() + self._lease_seconds

    def release(self, lease: Lease, *, spent: bool) -> None:
        with self._lock:
            state = self._states[lease.ticket.order]
            if state.token == lease.token:
                state.token = None
                state.receives = max(0, state.receives - (0 if spent else 1))

    def complete(self, lease: Lease) -> None:
        with self._lock:
            state = self._states[lease.ticket.order]
            state.done, state.token = True, None

    def progressed(self, lease: Lease) -> None:
        with self._lock:
            state = self._states[lease.ticket.order]
            if state.token == lease.token:
                state.receives = 0

    def outstanding(self) -> int:
        with self._lock:
            return sum(
                not state.done and not (self._free(state) and self._spent(state))
                for state in self._states.values()
            )

    def hungry(self) -> bool:
        return self._now() - self._asked_in_vain < 5

    def given_up(self) -> Lease | None:
        with self._lock:
            return self._take(spent=True)

    def _take(self, *, spent: bool) -> Lease | None:
        for _, state in sorted(self._states.items()):
            if not state.done and self._free(state) and self._spent(state) is spent:
                state.receives += 1
                state.token = self._token()
                state.expires = self._now() + self._lease_seconds
                return Lease(state.ticket, state.token, state.receives)
        return None

    def _free(self, state: _State) -> bool:
        return state.token is None or state.expires <= self._now()

    def _spent(self, state: _State) -> bool:
        return state.receives >= self._attempts
