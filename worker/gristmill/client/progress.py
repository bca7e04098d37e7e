"""Workers' events -> how far a run is, how fast it goes, when it will end, what it costs."""

from dataclasses import dataclass, field
from typing import Any

from gristmill.contract.manifest import Counts


@dataclass(slots=True)
class Progress:
    """Fed with events; read by a view."""

    shards: int
    began: float
    """Monotonic seconds."""
    usd_per_hour: float | None
    workers: int
    before: Counts
    """Done by earlier goes at this run."""
    shards_done: int = 0
    here: Counts = field(default_factory=Counts)
    """Done by this go."""
    restarts: int = 0
    """Workers that died and were replaced."""
    loaded: int = 0
    """Workers whose engine is loaded."""
    notes: list[str] = field(default_factory=list)
    """What libraries in the workers said; the last few."""
    _shares: dict[int, float] = field(default_factory=dict)
    _first_share: float | None = None
    _first_at: float = 0.0

    def take(self, event: dict[str, Any], at: float) -> None:
        """One event of a worker, heard at a monotonic time."""
        match event["event"]:
            case "loaded":
                self.loaded += 1
            case "part_published":
                self._begin(at)
                self.here = Counts.total((self.here, Counts.model_validate(event["counts"])))
                shard = event["shard"]
                self._shares[shard] = max(self._shares.get(shard, 0.0), event["shard_share"])
            case "shard_published":
                self._begin(at)
                self._shares.pop(event["shard"], None)
                self.shards_done += 1
            case "worker_died":
                self.restarts += 1
            case "note":
                self.notes = [*self.notes[-4:], str(event["text"])]

    @property
    def total(self) -> Counts:
        return Counts.total((self.before, self.here))

    @property
    def share(self) -> float:
        """How much of the run is done, 0 to 1, by shards and the places reached in them."""
        if not self.shards:
            return 1.0
        return min(1.0, (self.shards_done + sum(self._shares.values())) / self.shards)

    def rate(self, at: float) -> float:
        """Records per second since the first worker was loaded."""
        seconds = at - (self._first_at or self.began)
        return self.here.records / seconds if seconds > 0 else 0.0

    def seconds_left(self, at: float) -> float | None:
        """None until there is something to judge by."""
        if self._first_share is None or self.share <= self._first_share:
            return None
        speed = (self.share - self._first_share) / max(at - self._first_at, 1e-9)
        return (1 - self.share) / speed

    def usd(self, at: float) -> float | None:
        """Cost of this go: one machine, however many workers share it."""
        if self.usd_per_hour is None:
            return None
        return (at - self.began) / 3600 * self.usd_per_hour

    def _begin(self, at: float) -> None:
        if self._first_share is None:
            self._first_share, self._first_at = self.share, self._first_at or self.began
