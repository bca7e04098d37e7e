"""A run as it goes: a live line in a terminal, plain lines elsewhere, nothing with --json."""

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from gristmill.cli.console import say
from gristmill.client.progress import Progress
from gristmill.contract.units import show_seconds, show_usd

PLAIN_SECONDS = 5.0
"""Between plain lines."""


class SilentView:
    def draw(self, progress: Progress, at: float) -> None:
        pass


class PlainView:
    """For logs and pipes: a line every few seconds, the last one included."""

    def __init__(self) -> None:
        self._last = 0.0
        self._ended = False

    def draw(self, progress: Progress, at: float) -> None:
        done = progress.shards_done >= progress.shards
        if (done and not self._ended) or at - self._last >= PLAIN_SECONDS:
            self._last, self._ended = at, done
            say(" · ".join(_words(progress, at)))


class LiveView:
    """A bar and the numbers, drawn over."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def draw(self, progress: Progress, at: float) -> None:
        table = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=progress.share, width=30)
        table.add_row(bar, f"{progress.share:4.0%}", " · ".join(_words(progress, at)))
        self._live.update(table, refresh=True)


def _words(progress: Progress, at: float) -> list[str]:
    if not progress.loaded and not progress.here.records:
        return [f"loading the engine ({show_seconds(at - progress.began)})"]
    total = progress.total
    words = [
        f"{progress.shards_done}/{progress.shards} shards",
        f"{total.records:,} records",
        f"{progress.rate(at):,.0f}/s",
    ]
    left = progress.seconds_left(at)
    if left is not None and progress.share < 1:
        words.append(f"{show_seconds(left)} left")
    usd = progress.usd(at)
    if usd is not None:
        words.append(show_usd(usd))
    if total.rejected_total:
        words.append(f"{total.rejected_total:,} rejected")
    if progress.restarts:
        words.append(f"{progress.restarts} workers replaced")
    return words
