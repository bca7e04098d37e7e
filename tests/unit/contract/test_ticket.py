import pytest

from gristmill.contract.errors import StorageError
from gristmill.contract.shard import Cursor
from gristmill.contract.ticket import Ticket


@pytest.mark.parametrize(
    "ticket",
    [
        Ticket(0),
        Ticket(7, stop=3),
        Ticket(123_456, part=12, start=Cursor(3, 2**40), first=99_000),
        Ticket(1, part=2, stop=5, start=Cursor(0, 0), first=1),
    ],
)
def test_a_ticket_comes_back_as_it_was_written(ticket: Ticket) -> None:
    assert Ticket.decode(ticket.encode()) == ticket


def test_a_whole_shard_is_written_short() -> None:
    assert Ticket(12).encode() == '{"shard":12}'


@pytest.mark.parametrize("text", ["", "12", "[1]", '{"shard":1,"colour":2}', '{"start":[1]}', "{}"])
def test_what_is_no_ticket_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(StorageError, match="empty the queue, then resume"):
        Ticket.decode(text)
