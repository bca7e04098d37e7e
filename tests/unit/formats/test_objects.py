import gzip

import pytest
import zstandard

from gristmill.contract.errors import BadInputError
from gristmill.formats import objects
from gristmill.formats.objects import compression, read_blocks, refuse_mislabelled
from tests.doubles.memory_source import MemorySource

TEXT = bytes(range(256)) * 40
FORMS = {"a.txt": lambda t: t, "a.gz": gzip.compress, "A.ZST": zstandard.compress}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("_FIRST", 64), ("_OVERRUN", 16), ("BLOCK", 256), ("_ZSTD_STEP", 32)):
        monkeypatch.setattr(objects, name, size)


def read(key: str, body: bytes, at: int = 0) -> bytes:
    return b"".join(read_blocks(MemorySource(key, body), at, None))


def test_the_name_says_how_an_object_is_compressed() -> None:
    assert [compression(k) for k in ("a.gz", "a.ZST", "a.jsonl", "gz")] == [
        "gzip",
        "zstd",
        None,
        None,
    ]


@pytest.mark.parametrize("key", FORMS)
@pytest.mark.parametrize("at", [0, 1, 63, 64, 5000, len(TEXT) - 1, len(TEXT)])
def test_reading_starts_at_any_offset_of_the_text(key: str, at: int) -> None:
    assert read(key, FORMS[key](TEXT), at) == TEXT[at:]


@pytest.mark.parametrize("key", ["a.gz", "a.zst"])
def test_several_members_are_read_as_one_text(key: str) -> None:
    compress = gzip.compress if key == "a.gz" else zstandard.compress
    members = [compress(TEXT), compress(b""), compress(b"end")]
    assert read(key, b"".join(members)) == TEXT + b"end"


def test_zero_padding_after_a_gzip_member_is_no_damage() -> None:
    assert read("a.gz", gzip.compress(TEXT) + bytes(1000)) == TEXT


@pytest.mark.parametrize("key", ["a.gz", "a.zst"])
@pytest.mark.parametrize("missing", [1, 9, 30])
def test_compressed_data_cut_short_is_refused(key: str, missing: int) -> None:
    compress = gzip.compress if key == "a.gz" else zstandard.compress
    body = compress(TEXT)[:-missing] if key == "a.gz" else compress(TEXT, 1)[: -min(missing, 20)]
    with pytest.raises(
        BadInputError, match=rf"{key}: its \w+ data is cut short: .* upload it whole"
    ):
        read(key, body)


@pytest.mark.parametrize("key", ["a.gz", "a.zst"])
def test_garbage_after_a_member_is_refused(key: str) -> None:
    compress = gzip.compress if key == "a.gz" else zstandard.compress
    with pytest.raises(BadInputError, match=rf"{key}: is not valid \w+ after 10.0 KiB of text"):
        read(key, compress(TEXT) + b"garbage")


@pytest.mark.parametrize("key", ["a.gz", "a.zst"])
def test_text_named_as_compressed_is_refused(key: str) -> None:
    with pytest.raises(BadInputError, match="from its beginning"):
        read(key, b'{"text": "x"}\n')


def test_a_compressed_block_is_bounded_however_well_it_compresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    source = MemorySource("a.gz", gzip.compress(bytes(50_000_000)))
    assert max(len(block) for block in read_blocks(source, 0, None)) <= objects.BLOCK


def test_an_object_shorter_than_listed_is_refused() -> None:
    class Shrunk(MemorySource):
        def read(self, start: int, stop: int) -> bytes:
            return self.body[start : min(stop, 100)]

    with pytest.raises(BadInputError, match="ends after 100 bytes, but was listed with 10,240"):
        list(read_blocks(Shrunk("a", TEXT), 0, None))


def test_a_split_reads_little_past_its_end() -> None:
    source = MemorySource("a", TEXT)
    blocks = read_blocks(source, 1000, 1100)
    [next(blocks) for _ in range(2)]
    assert max(stop for _, stop in source.ranges) <= 1100 + 16


@pytest.mark.parametrize(
    ("head", "remedy"),
    [
        (gzip.compress(b"x", mtime=0), "is gzip.*ending .gz"),
        (zstandard.compress(b"x"), "is zstd.*ending .zst"),
        (b"PAR1\x15\x04", "is Parquet.*kind to parquet"),
        ('{"a": 1}'.encode("utf-16"), "is UTF-16.*UTF-8"),
    ],
    ids=["gzip", "zstd", "parquet", "utf-16"],
)
def test_a_first_byte_that_is_no_text_says_what_to_do(head: bytes, remedy: str) -> None:
    with pytest.raises(BadInputError, match=remedy):
        refuse_mislabelled(MemorySource("a.jsonl", head), head)
