import gzip
import tracemalloc

import pytest

from gristmill.contract.errors import BadInputError
from gristmill.formats.lines import KEPT, line_cuts, read_lines
from tests.doubles.memory_source import MemorySource


def lines(body: bytes, start: int = 0, stop: int | None = None, most: int = 10**6) -> list[bytes]:
    source = MemorySource("a.txt", body)
    return [line for _, _, line, _ in read_lines(source, start, stop, start, most)]


def test_a_line_may_end_in_lf_crlf_or_the_file() -> None:
    assert lines(b"one\ntwo\r\nthree") == [b"one", b"two", b"three"]


def test_a_byte_order_mark_is_not_handed_out_but_counted() -> None:
    source = MemorySource("a.txt", b"\xef\xbb\xbfone\ntwo\n")
    assert list(read_lines(source, 0, None, 0, 100)) == [
        (0, 7, b"one", False),
        (7, 11, b"two", False),
    ]


@pytest.mark.parametrize("cut", range(1, 11))
def test_a_cut_in_or_after_the_byte_order_mark_loses_nothing(cut: int) -> None:
    body = b"\xef\xbb\xbfone\ntwo\n"
    assert lines(body, 0, cut) + lines(body, cut, None) == [b"one", b"two"]


def test_an_empty_file_has_no_lines_and_is_not_read() -> None:
    source = MemorySource("a.txt", b"")
    assert list(read_lines(source, 0, 0, 0, 100)) == []
    assert source.ranges == []


def test_a_line_belongs_to_the_split_of_its_first_byte() -> None:
    body = b"aaaa\nbbbb\ncccc\n"
    assert lines(body, 0, 5) == [b"aaaa"]
    assert lines(body, 0, 6) == [b"aaaa", b"bbbb"]
    assert lines(body, 5, 15) == [b"bbbb", b"cccc"]
    assert lines(body, 6, 9) == []


def test_a_line_over_the_limit_keeps_only_its_beginning() -> None:
    body = b"ok\n" + b"x" * 30_000_000 + b"\nafter\n"
    source = MemorySource("a.txt", body)
    tracemalloc.start()
    found = list(read_lines(source, 0, None, 0, 2**20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(o, e, len(line), over) for o, e, line, over in found] == [
        (0, 3, 2, False),
        (3, 30_000_004, KEPT, True),
        (30_000_004, 30_000_010, 5, False),
    ]
    assert peak < 20_000_000


@pytest.mark.parametrize("size", [10, 11])
def test_the_limit_itself_is_allowed(size: int) -> None:
    source = MemorySource("a.txt", b"x" * size + b"\n" + b"y" * size)
    assert [over for *_, over in read_lines(source, 0, None, 0, 10)] == [size > 10] * 2


def test_a_compressed_file_under_a_plain_name_is_refused_in_every_split() -> None:
    body = gzip.compress(bytes(10_000))
    for start in (0, 10):
        with pytest.raises(BadInputError, match=r"is gzip, not plain text"):
            lines(body, start, None)


def test_cuts_are_multiples_of_the_target_without_a_tiny_last_piece() -> None:
    assert line_cuts(MemorySource("a", bytes(100)), 30) == (100, [30, 60])
    assert line_cuts(MemorySource("a", bytes(110)), 30) == (110, [30, 60, 90])
    assert line_cuts(MemorySource("a", bytes(10)), 30) == (10, [])


def test_a_compressed_object_is_one_split_of_unknown_extent() -> None:
    assert line_cuts(MemorySource("a.gz", bytes(100)), 30) == (None, [])


@pytest.mark.parametrize("key", ["a.jsonl", "a.gz"])
def test_an_object_without_bytes_has_no_extent(key: str) -> None:
    assert line_cuts(MemorySource(key, b""), 30) == (0, [])
