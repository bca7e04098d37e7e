import io

import pytest

from gristmill.contract.errors import StorageError
from gristmill.formats.parquet_source import RangedFile
from tests.doubles.memory_source import MemorySource


def test_it_reads_the_ranges_that_are_asked_for() -> None:
    source = MemorySource("a", b"0123456789")
    file = RangedFile(source)
    assert file.seek(-3, io.SEEK_END) == 7
    assert file.read(2) == b"78"
    assert file.tell() == 9
    assert file.read() == b"9"
    assert file.read(5) == b""
    assert source.ranges == [(7, 9), (9, 10)]


def test_it_remembers_what_storage_said() -> None:
    class Failing(MemorySource):
        def read(self, start: int, stop: int) -> bytes:
            raise StorageError("no network")

    file = RangedFile(Failing("a", b"x"))
    with pytest.raises(StorageError):
        file.read()
    assert str(file.failure) == "no network"
