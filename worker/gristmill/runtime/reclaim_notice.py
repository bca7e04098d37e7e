"""Notices that the machine is taken back, from where a cloud, or a person, leaves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gristmill.contract.process import (
    ENV_EC2_METADATA_DISABLED,
    ENV_EC2_METADATA_ENDPOINT,
    NoticeKind,
)
from gristmill.runtime.ec2_metadata import REBALANCE, SPOT_ACTION, InstanceMetadata, reach
from gristmill.runtime.host import Host

FILE_POLL_SECONDS: Final = 1.0
EC2_POLL_SECONDS: Final = 5.0
"""As often as EC2's own guide says; a notice comes two minutes ahead."""
_ACTIONS: Final = ("terminate", "stop", "hibernate")


@dataclass(frozen=True, slots=True)
class Notice:
    """What a worker was told."""

    kind: NoticeKind
    what: str
    """The signal, the file, or what EC2 will do."""
    seconds_left: float | None = None
    """Until the machine goes, where the notice names a time."""

    @property
    def ends_work(self) -> bool:
        return self.kind is not NoticeKind.REBALANCE


Tell = Callable[[Notice], None]


async def watch_file(path: Path, host: Host, tell: Tell) -> None:
    """For clouds and schedulers that gristmill does not know: their hook makes a file."""
    while not await host.offload(_is_there, path):
        await host.clock.sleep(FILE_POLL_SECONDS)
    tell(Notice(NoticeKind.FILE, str(path)))


async def watch_ec2(env: Mapping[str, str], host: Host, tell: Tell) -> None:
    """Ask the instance metadata as long as the machine has one. What can't be understood, or does
    not answer, is no notice: the next question may do better."""
    if env.get(ENV_EC2_METADATA_DISABLED, "").lower() == "true":
        return
    metadata = await reach(env.get(ENV_EC2_METADATA_ENDPOINT), host)
    if metadata is None:
        return
    at_risk = False
    while True:
        notice = await host.offload(_spot_notice, metadata, host.clock.now)
        if notice is not None:
            tell(notice)
            return
        if not at_risk:
            notice = await host.offload(_rebalance_notice, metadata)
            if notice is not None:
                at_risk = True
                tell(notice)
        await host.clock.sleep(EC2_POLL_SECONDS)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder that may not be looked into
        return False


def _spot_notice(metadata: InstanceMetadata, now: Callable[[], float]) -> Notice | None:
    found = metadata.ask(SPOT_ACTION)
    if found is None or found.get("action") not in _ACTIONS:
        return None
    at = _moment(found.get("time"))
    left = None if at is None else round(max(0.0, at - now()), 1)
    return Notice(NoticeKind.SPOT, found["action"], left)


def _rebalance_notice(metadata: InstanceMetadata) -> Notice | None:
    found = metadata.ask(REBALANCE)
    if found is None or _moment(found.get("noticeTime")) is None:
        return None
    return Notice(NoticeKind.REBALANCE, f"at risk since {found['noticeTime']}")


def _moment(text: Any) -> float | None:
    """Seconds since the epoch; None for what is no time with a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return None if moment.tzinfo is None else moment.timestamp()
