from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
import trio

from gristmill.contract.process import (
    ENV_EC2_METADATA_DISABLED,
    ENV_EC2_METADATA_ENDPOINT,
    NoticeKind,
)
from gristmill.runtime.ec2_metadata import REBALANCE, SPOT_ACTION
from gristmill.runtime.host import Host
from gristmill.runtime.reclaim_notice import (
    EC2_POLL_SECONDS,
    FILE_POLL_SECONDS,
    Notice,
    watch_ec2,
    watch_file,
)
from tests.doubles.ec2_machine import NONE, Answer, Ec2Machine, ec2_machine, found
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import inline
from tests.doubles.trio_clock import TrioClock, simulate

GOING = found(action="terminate", time="1970-01-01T00:02:00Z")


@pytest.fixture
def machine() -> Iterator[Ec2Machine]:
    with ec2_machine() as running:
        yield running


async def told(machine: Ec2Machine, clock: InstantClock) -> list[Notice]:
    """What is told until the watch ends."""
    notices: list[Notice] = []
    env = {ENV_EC2_METADATA_ENDPOINT: machine.endpoint}
    with anyio.fail_after(30):
        await watch_ec2(env, Host(clock, inline), notices.append)
    return notices


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["terminate", "stop", "hibernate"])
async def test_a_spot_notice_is_told_with_the_seconds_left(
    machine: Ec2Machine, action: str
) -> None:
    machine.will_say(SPOT_ACTION, NONE, NONE, found(action=action, time="1970-01-01T00:02:00Z"))
    clock = InstantClock()
    assert await told(machine, clock) == [Notice(NoticeKind.SPOT, action, 110.0)]
    assert clock.slept == [EC2_POLL_SECONDS] * 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("time", "left"),
    [("1969-12-31T00:00:00Z", 0.0), ("soon", None), (None, None), ("1970-01-01T00:02:00", None)],
)
async def test_a_time_that_is_past_or_unclear_still_ends_the_work(
    machine: Ec2Machine, time: str | None, left: float | None
) -> None:
    machine.will_say(SPOT_ACTION, found(action="stop", time=time))
    assert await told(machine, InstantClock()) == [Notice(NoticeKind.SPOT, "stop", left)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "wrong",
    [
        (200, b"<html>captive portal</html>"),
        (200, b"[]"),
        (500, b"busy"),
        found(action="reboot", time="1970-01-01T00:02:00Z"),
        found(time="1970-01-01T00:02:00Z"),
        found(action=["stop"]),
    ],
)
async def test_a_wrong_answer_is_no_notice_and_the_watch_goes_on(
    machine: Ec2Machine, wrong: Answer
) -> None:
    machine.will_say(SPOT_ACTION, wrong, wrong, GOING)
    (notice,) = await told(machine, InstantClock())
    assert notice.kind is NoticeKind.SPOT


@pytest.mark.anyio
async def test_a_token_that_expires_between_two_questions_costs_no_notice(
    machine: Ec2Machine,
) -> None:
    class Slow(InstantClock):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            machine.expire_token()

    machine.will_say(SPOT_ACTION, NONE, NONE, GOING)
    assert len(await told(machine, Slow())) == 1
    assert machine.refused == 2


@pytest.mark.anyio
async def test_a_recommendation_to_move_is_told_once_and_ends_nothing(machine: Ec2Machine) -> None:
    machine.will_say(SPOT_ACTION, NONE, NONE, NONE, GOING)
    machine.will_say(REBALANCE, NONE, found(noticeTime="1970-01-01T00:00:05Z"))
    notices = await told(machine, InstantClock())
    assert [notice.kind for notice in notices] == [NoticeKind.REBALANCE, NoticeKind.SPOT]
    assert [notice.ends_work for notice in notices] == [False, True]
    assert notices[0].what == "at risk since 1970-01-01T00:00:05Z"


@pytest.mark.anyio
async def test_a_machine_without_metadata_is_not_watched(machine: Ec2Machine) -> None:
    machine.token_status = 404
    assert await told(machine, InstantClock()) == []
    assert machine.asked == []


@pytest.mark.anyio
async def test_switched_off_it_asks_nothing(machine: Ec2Machine) -> None:
    machine.will_say(SPOT_ACTION, GOING)
    env = {ENV_EC2_METADATA_ENDPOINT: machine.endpoint, ENV_EC2_METADATA_DISABLED: "True"}
    notices: list[Notice] = []
    await watch_ec2(env, Host(InstantClock(), inline), notices.append)
    assert (notices, machine.asked, machine.refused) == ([], [], 0)


def test_a_file_that_appears_is_told_within_a_second(tmp_path: Path) -> None:
    mark = tmp_path / "reclaim"
    notices: list[Notice] = []

    async def body() -> None:
        clock = TrioClock()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch_file, mark, Host(clock, inline), notices.append)
            await trio.sleep(3600.5)
            assert notices == []
            mark.touch()

    assert simulate(body) <= 3600.5 + FILE_POLL_SECONDS
    assert notices == [Notice(NoticeKind.FILE, str(mark))]


def test_a_place_that_can_not_be_looked_at_is_no_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "reclaim"
    answers = iter([PermissionError("no"), PermissionError("no"), True])

    def exists(_: Path) -> bool:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(Path, "exists", exists)
    notices: list[Notice] = []

    async def body() -> None:
        await watch_file(mark, Host(TrioClock(), inline), notices.append)

    simulate(body)
    assert len(notices) == 1
