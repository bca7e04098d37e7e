"""MemoryQueue: a WorkQueue in a dict, for workers of one process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

from gristmill.queue.protocol import Lease, LeaseLostError


@dataclass(slots=True)
class _State:
    receives: int = 0
    token: str | None = None
    expires: float = 0.0
    done: bool = False


class MemoryQueue:
    def __init__(
        self, *, now: Callable[[], float], token: Callable[[], str], lease_seconds: float = 60
    ) -> None:
        self._now = now
        self._token = token
        self._lease_seconds = lease_seconds
        self._states: dict[int, _State] = {}
        self._lock = Lock()

    @property
    def lease_seconds(self) -> float:
        return self._lease_seconds

    def fill(self, shards: Iterable[int]) -> None:
        with self._lock:
            for shard in shards:
                if shard not in self._states or self._states[shard].done:
                    self._states[shard] = _State()

    def lease(self) -> Lease | None:
        with self._lock:
            for shard, state in sorted(self._states.items(), key=lambda item: item[0]):
                free = state.token is None or state.expires <= self._now()
                if free and not state.done:
                    state.receives += 1
                    state.token = self._token()
                    state.expires = self._now() + self._lease_seconds
                    return Lease(shard, state.token, state.receives)
            return None

    def extend(self, lease: Lease) -> None:
        with self._lock:
            state = self._states[lease.shard]
            if state.token != lease.token:
                raise LeaseLostError(f"the lease on shard {lease.shard} expired and was lost")
            state.expires = self._now() + self._lease_seconds

    def release(self, lease: Lease) -> None:
        with self._lock:
            state = self._states[lease.shard]
            if state.token == lease.token:
                state.token = None

    def complete(self, lease: Lease) -> None:
        with self._lock:
            state = self._states[lease.shard]
            state.done, state.token = True, None

    def outstanding(self) -> int:
        with self._lock:
            return sum(not state.done for state in self._states.values())
