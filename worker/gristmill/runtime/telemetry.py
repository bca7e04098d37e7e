"""What a worker says: one JSON event a line on stderr, and its attempt report in the run."""

import json
import os
import re
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json
from gristmill.contract.clock import Clock
from gristmill.contract.manifest import AttemptReport, Counts, PartManifest
from gristmill.store.protocol import ObjectStore


class Emit(Protocol):
    """Takes one event. Never records' content: prompts, outputs and secrets stay out of logs."""

    def __call__(self, event: str, **fields: Any) -> None: ...


def stderr_events(attempt: str, now: Callable[[], float]) -> Emit:
    """Events as JSON lines on stderr, each written whole."""

    def emit(event: str, **fields: Any) -> None:
        line = {"event": event, "at": round(now(), 3), "attempt": attempt, **fields}
        # Whoever listened may have been killed. The work it asked for is published all the same.
        with suppress(BrokenPipeError):
            sys.stderr.write(json.dumps(line, separators=(",", ":")) + "\n")
            sys.stderr.flush()

    return emit


class Tally:
    """What this attempt did so far."""

    def __init__(self, attempt: str, clock: Clock, machine_share: float) -> None:
        self.attempt = attempt
        self.counts = Counts()
        self.load_seconds = 0.0
        self.engine_seconds = 0.0
        self.lost_records = 0
        self.kept_records = 0
        self._won: set[tuple[int, int]] = set()
        self._clock = clock
        self._began = clock.monotonic()
        self._started_at = clock.now()
        self._share = machine_share

    def add(self, part: PartManifest, *, won: bool, records: int) -> bool:
        """A part was inferred by this attempt; `won`: its manifest is ours. Whether it counts:
        one that came twice, with a second ticket, has won once."""
        place = (part.shard, part.part)
        if not won or place in self._won:
            self.lost_records += records
            return False
        self._won.add(place)
        self.counts = Counts.total((self.counts, part.counts))
        self.engine_seconds += part.engine_seconds
        return True

    def cut(self, *, kept: int, lost: int) -> None:
        """A part was cut short: outcomes `kept` for the next attempt, and `lost` in the engine."""
        self.kept_records += kept
        self.lost_records += lost

    def report(self, exit_code: int | None = None, message: str | None = None) -> AttemptReport:
        return AttemptReport(
            attempt=self.attempt,
            host=socket.gethostname(),
            pid=os.getpid(),
            started_at=self._started_at,
            updated_at=self._clock.now(),
            exit_code=exit_code,
            message=message,
            seconds=self._clock.monotonic() - self._began,
            load_seconds=self.load_seconds,
            engine_seconds=self.engine_seconds,
            counts=self.counts,
            lost_records=self.lost_records,
            kept_records=self.kept_records,
            machine_share=self._share,
            peak_rss=peak_rss(),
        )


def publish_report(run: ObjectStore, report: AttemptReport) -> None:
    """Write (over) the attempt's report. Blocks."""
    run.put(layout.attempt(report.attempt), canonical_json(report))


def peak_rss() -> int:
    """Most memory this process has held, in bytes."""
    # Linux's ru_maxrss survives exec: a worker would report its launcher's memory.
    status = Path("/proc/self/status")
    if status.exists():
        peak = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text("ascii"), re.MULTILINE)
        if peak is not None:
            return int(peak[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
