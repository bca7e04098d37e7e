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
    _loaded_at: float | None = None
    _share_then: float = 0.0

    def take(self, event: dict[str, Any], at: float) -> None:
        """One event of a worker, heard at a monotonic time."""
        match event["event"]:
            case "loaded":
                self.loaded += 1
                if self._loaded_at is None:
                    self._loaded_at, self._share_then = at, self.share
            case "part_published":
                self.here = Counts.total((self.here, Counts.model_validate(event["counts"])))
                shard = event["shard"]
                self._shares[shard] = max(self._shares.get(shard, 0.0), event["shard_share"])
            case "shard_published":
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
        seconds = at - self._loaded_at if self._loaded_at is not None else 0.0
        return self.here.records / seconds if seconds > 0 else 0.0

    def seconds_left(self, at: float) -> float | None:
        """None until there is something to judge by."""
        done = self.share - self._share_then
        if self._loaded_at is None or done <= 0:
            return None
        return (1 - self.share) * (at - self._loaded_at) / done

    def usd(self, at: float) -> float | None:
        """Cost of this go: one machine, however many workers share it."""
        if self.usd_per_hour is None:
            return None
        return (at - self.began) / 3600 * self.usd_per_hour
