"""Bugs planted on purpose: a simulator that does not find these proves nothing."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from gristmill.contract.record import Outcome
from gristmill.contract.ticket import Ticket
from gristmill.runtime import commit, worker
from gristmill.runtime.leases import Leases
from gristmill.runtime.open_ticket import OpenTicket, divide
from gristmill.runtime.partial import decode_partial
from gristmill.runtime.read import ShardReader
from gristmill.runtime.worker import Worker
from tests.doubles.memory_store import MemoryStore
from tests.sim.world import Ending, simulate

SEEDS = range(1000)


def found() -> Ending:
    """The first world in which a promise is broken."""
    for seed in SEEDS:
        if (ending := simulate(seed)).violation is not None:
            return ending
    pytest.fail(f"not found in {len(SEEDS)} worlds")


def test_a_manifest_that_is_written_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def put_new(store: MemoryStore, key: str, body: bytes) -> bool:
        store.put(key, body)
        return True

    monkeypatch.setattr(MemoryStore, "put_new", put_new)
    assert "written once, and then otherwise" in str(found().violation)


def test_a_ticket_that_is_completed_before_its_shard_is_published_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end_ticket = Worker._end_ticket

    async def early(self: Worker, opened: OpenTicket) -> None:
        await self._leases.complete(opened.ticket)
        await end_ticket(self, opened)

    monkeypatch.setattr(Worker, "_end_ticket", early)
    assert "lost: " in str(found().violation)


def test_a_ticket_that_is_completed_before_its_last_part_is_published_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed_ticket = Worker._feed_ticket

    async def early(self: Worker, opened: OpenTicket, *rest: Any) -> None:
        await feed_ticket(self, opened, *rest)
        await self._leases.complete(opened.ticket)

    monkeypatch.setattr(Worker, "_feed_ticket", early)
    assert "lost: " in str(found().violation)


def test_a_lease_that_is_never_renewed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def beat(self: Leases) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(Leases, "_beat", beat)
    assert "inferred in vain" in str(found().violation)


def test_a_part_that_is_finished_from_outcomes_moved_by_one_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def moved(*given: Any) -> tuple[Any, Mapping[int, Outcome]]:
        head, outcomes = decode_partial(*given)
        *places, last = sorted(outcomes)
        return head, dict(
            zip([last, *places], map(outcomes.__getitem__, [*places, last]), strict=True)
        )

    monkeypatch.setattr(commit, "decode_partial", moved)
    assert "not those of an undisturbed run" in str(found().violation)


def test_a_later_half_that_starts_a_part_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(opened: OpenTicket, reader: ShardReader) -> Ticket | None:
        left = {ticket.part: ticket for ticket in reader.ahead()}
        later = divide(opened, reader)
        return later and left[later.part + 1]

    monkeypatch.setattr(worker, "divide", late)
    assert found().violation is not None
