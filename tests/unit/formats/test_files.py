from typing import Literal

import pytest

from gristmill.contract.dataset import WholeFiles
from gristmill.contract.record import Record, RejectionClass
from gristmill.formats.files import FilesReader
from tests.doubles.memory_source import MemorySource


def read(
    body: bytes, content: Literal["text", "bytes"] = "text", most: int = 1000
) -> tuple[Record, MemorySource]:
    source = MemorySource("dir/a b#1.txt", body)
    reader = FilesReader(WholeFiles(kind="files", content=content), most)
    (record,) = reader.records(source, 0, 1, 0, 0)
    return record, source


def test_a_file_is_one_record_named_by_its_key() -> None:
    record, _ = read("héllo\r\n".encode())
    assert (record.id, record.place, record.end) == ("dir/a b#1.txt", "dir/a b#1.txt", 1)
    assert record.inputs == ("héllo\r\n",)


def test_bytes_go_through_as_they_are() -> None:
    record, _ = read(b"\x89PNG\xff", "bytes")
    assert record.inputs == (b"\x89PNG\xff",)


def test_a_byte_order_mark_is_no_text() -> None:
    assert read(b"\xef\xbb\xbfx")[0].inputs == ("x",)


@pytest.mark.parametrize("body", [b"", b" \n"])
def test_an_empty_text_is_rejected(body: bytes) -> None:
    record, _ = read(body)
    assert record.fault is not None
    assert record.fault.reason is RejectionClass.MISSING_FIELD


def test_text_that_is_not_utf8_is_unparsable() -> None:
    record, _ = read(b"ab\xff")
    assert record.fault is not None
    assert record.fault.reason is RejectionClass.UNPARSABLE
    assert record.fault.message.startswith("not valid UTF-8: byte 0xff at 2; say `content: bytes`")


def test_a_file_over_the_limit_is_rejected_unread() -> None:
    record, source = read(b"x" * 1001)
    assert record.fault is not None
    assert record.fault.reason is RejectionClass.TOO_LARGE
    assert source.ranges == []
