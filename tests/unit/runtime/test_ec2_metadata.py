import socket
from collections.abc import Iterator

import pytest

from gristmill.runtime.ec2_metadata import SPOT_ACTION, InstanceMetadata, reach
from gristmill.runtime.host import Host, in_thread
from tests.doubles.ec2_machine import NONE, Ec2Machine, ec2_machine, found
from tests.doubles.instant_clock import InstantClock

pytestmark = pytest.mark.anyio

HOST = Host(InstantClock(), in_thread)


@pytest.fixture
def machine() -> Iterator[Ec2Machine]:
    with ec2_machine() as running:
        yield running


async def reached(machine: Ec2Machine) -> InstanceMetadata:
    metadata = await reach(machine.endpoint, HOST)
    assert metadata is not None
    return metadata


async def test_what_is_there_is_read_with_a_token(machine: Ec2Machine) -> None:
    machine.will_say(SPOT_ACTION, NONE, found(action="stop"))
    metadata = await reached(machine)
    assert metadata.ask(SPOT_ACTION) is None
    assert metadata.ask(SPOT_ACTION) == {"action": "stop"}
    assert machine.refused == 0


async def test_a_token_that_is_too_old_is_replaced_by_a_new_one(machine: Ec2Machine) -> None:
    machine.will_say(SPOT_ACTION, found(action="stop"))
    metadata = await reached(machine)
    machine.expire_token()
    assert metadata.ask(SPOT_ACTION) == {"action": "stop"}
    assert machine.refused == 1
    assert metadata.ask(SPOT_ACTION) == {"action": "stop"}
    assert machine.refused == 1


async def test_a_token_that_is_refused_for_good_is_no_answer(machine: Ec2Machine) -> None:
    metadata = await reached(machine)
    machine.expire_token()
    machine.token_status = 403
    assert metadata.ask(SPOT_ACTION) is None


@pytest.mark.parametrize(
    "answer",
    [(200, b"<html>"), (200, b"\xff"), (200, b"[1]"), (200, b""), (500, b"{}"), (302, b"{}")],
)
async def test_a_wrong_answer_is_none(machine: Ec2Machine, answer: tuple[int, bytes]) -> None:
    machine.will_say(SPOT_ACTION, answer)
    assert (await reached(machine)).ask(SPOT_ACTION) is None


async def test_an_endpoint_may_have_a_path_and_a_slash_at_its_end(machine: Ec2Machine) -> None:
    assert await reach(machine.endpoint + "/", HOST) is not None


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_a_machine_without_a_token_has_no_metadata(machine: Ec2Machine, status: int) -> None:
    machine.token_status = status
    assert await reach(machine.endpoint, HOST) is None


async def test_where_nobody_answers_there_is_no_metadata() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        assert await reach(f"http://127.0.0.1:{taken.getsockname()[1]}", HOST) is None


@pytest.mark.parametrize(
    "endpoint", ["nonsense", "https://127.0.0.1", "http://", "http://h:port", "http://[::1"]
)
async def test_an_endpoint_that_is_no_http_address_is_no_metadata(endpoint: str) -> None:
    assert await reach(endpoint, HOST) is None


async def test_metadata_that_died_is_no_answer() -> None:
    with ec2_machine() as machine:
        metadata = await reached(machine)
    assert metadata.ask(SPOT_ACTION) is None
