"""Tickets in hand: what is published of them, when they are finished, how they are divided."""

import pytest

from gristmill.contract import layout
from gristmill.contract.ticket import Ticket
from gristmill.runtime.open_ticket import OpenTicket, divide, look_up, published_parts
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.read import ShardReader
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import Mill, blueprint, json_lines

TEXTS = [f"text {index}" for index in range(83)]
WHOLE = Ticket(0)
PARTS = 11
"""Of 8 records; the last has 3."""

pytestmark = pytest.mark.anyio


@pytest.fixture
def mill() -> Mill:
    return Mill.planned(
        {"a.jsonl": json_lines(TEXTS)}, InstantClock(), blueprint(shard={"bytes": 10**6})
    )


def opened(mill: Mill, ticket: Ticket = WHOLE) -> OpenTicket:
    found = look_up(mill.run, PlanPages(mill.run, mill.plan), ticket)
    assert found is not None
    return found


def reader(mill: Mill, ticket: OpenTicket) -> ShardReader:
    size = mill.spec.blueprint.part
    return ShardReader(
        ticket.shard, mill.reader, mill.inputs, size, None, ticket.parts, ticket.ticket
    )


def records(reading: ShardReader) -> list[str]:
    return [
        str(record.inputs[0]) for part in iter(reading.next_part, None) for record in part.records
    ]


def test_two_halves_hold_every_record_once_and_their_parts_are_those_of_the_whole(
    mill: Mill,
) -> None:
    whole = opened(mill)
    near = reader(mill, whole)
    later = divide(whole, near)
    assert later is not None
    assert (later.part, later.first, later.stop) == (5, 40, None)
    far = opened(mill, later)
    assert records(near) + records(reader(mill, far)) == TEXTS
    assert not whole.covers(0, 5)
    assert far.covers(0, 5)


def test_a_half_is_divided_again_inside_its_own_bounds(mill: Mill) -> None:
    whole = opened(mill)
    near = reader(mill, whole)
    later = divide(whole, near)
    assert later is not None
    first, second = near.next_part(), divide(whole, near)
    assert first is not None
    assert second is not None
    assert (second.part, second.stop) == (3, later.part)
    middle = reader(mill, opened(mill, second))
    told = records(middle)
    assert [str(r.inputs[0]) for r in first.records] + records(near) == TEXTS[:24]
    assert told == TEXTS[24:40]


def test_too_little_is_not_divided(mill: Mill) -> None:
    whole = opened(mill)
    near = reader(mill, whole)
    for _ in range(PARTS - 3):
        near.next_part()
    assert divide(whole, near) is None
    assert records(near) == TEXTS[8 * 8 :]


async def test_a_ticket_is_finished_with_its_own_parts_and_the_shard_with_all(
    mill: Mill,
) -> None:
    await mill.work()
    (manifest,) = [mill.run.get(layout.shard_manifest(0))]
    assert manifest
    assert look_up(mill.run, PlanPages(mill.run, mill.plan), Ticket(0)) is None
    known = OpenTicket(Ticket(0), next(iter(mill.shards())), stop=5)
    parts = {manifest.part: manifest for manifest in published_parts(mill.run, 0)}
    known.parts = {part: parts[part] for part in range(5)}
    assert known.finished
    assert not known.complete
    known.parts = {part: parts[part] for part in range(4)}
    assert not known.finished
    known.parts = parts
    assert known.complete
