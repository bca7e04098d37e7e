"""Bytes of one input object, plain or decompressed, block by block in bounded memory."""

import zlib
from collections.abc import Iterator
from typing import Final, Literal, Never

import zstandard

from gristmill.contract.errors import BadInputError
from gristmill.contract.units import show_bytes
from gristmill.formats.protocol import Source

BLOCK: Final = 4 * 2**20
"""Bytes of one read, once reading is under way."""
_FIRST: Final = 2**18
_OVERRUN: Final = 2**14
"""Read this much past a split's end at once: most often it holds the end of the last line."""
_ZSTD_STEP: Final = 4096
"""zstd has no bound on the output of one call; a small input bounds it at about 128 MiB."""

_MISLABELLED: Final = (
    (b"\x1f\x8b", "gzip", "give its name the ending .gz"),
    (b"\x28\xb5\x2f\xfd", "zstd", "give its name the ending .zst"),
    (b"PAR1", "Parquet", "set input.format.kind to parquet, or leave it out of input.uri"),
    (b"BZh", "bzip2", "compress it as .gz or .zst"),
    (b"\xfd7zXZ\x00", "xz", "compress it as .gz or .zst"),
    (b"PK\x03\x04", "a zip archive", "unpack it"),
    (b"\xff\xfe", "UTF-16", "convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16", "convert it to UTF-8"),
)


def compression(key: str) -> Literal["gzip", "zstd"] | None:
    """How the object is compressed, by its name."""
    name = key.lower()
    if name.endswith(".gz"):
        return "gzip"
    return "zstd" if name.endswith(".zst") else None


def read_blocks(source: Source, at: int, stop: int | None) -> Iterator[bytes]:
    """The object's text from `at` to its end, in blocks. `stop` is only a hint where the reader
    will lose interest. For a compressed object, `at` counts bytes of text.

    Raises BadInputError for compressed data that is damaged or cut short.
    """
    match compression(source.object.key):
        case None:
            yield from _plain(source, at, source.object.size if stop is None else stop)
        case "gzip":
            yield from _skip(_gunzip(source), at)
        case "zstd":
            yield from _skip(_unzstd(source), at)


def refuse_mislabelled(source: Source, head: bytes) -> None:
    """Raises BadInputError when the first bytes say that the object is no text at all."""
    for magic, kind, remedy in _MISLABELLED:
        if head.startswith(magic):
            raise BadInputError(f"{source.object.key}: is {kind}, not plain text; {remedy}")


def _plain(source: Source, at: int, stop: int) -> Iterator[bytes]:
    size = source.object.size
    soft = min(stop + _OVERRUN, size)
    step = _FIRST
    while at < size:
        if at >= stop:
            step = min(step, 4 * _OVERRUN)
        upto = min(at + step, soft if at < soft else size)
        block = source.read(at, upto)
        if len(block) < upto - at:
            raise BadInputError(
                f"{source.object.key}: ends after {at + len(block):,} bytes, but was listed with "
                f"{size:,}; start a new run when nothing writes to it any more"
            )
        yield block
        at = upto
        step = min(step * 2, BLOCK)


def _skip(blocks: Iterator[bytes], at: int) -> Iterator[bytes]:
    for block in blocks:
        if at < len(block):
            yield block[at:] if at else block
        at = max(at - len(block), 0)


def _gunzip(source: Source) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    inside, stored, text = False, 0, 0
    for piece in _plain(source, 0, source.object.size):
        rest = piece
        stored += len(piece)
        while rest := rest if inside or not text else rest.lstrip(b"\0"):  # padding is allowed
            try:
                block = inflate.decompress(rest, BLOCK)
            except zlib.error:
                _damaged(source, "gzip", stored - len(rest), text)
            text += len(block)
            if block:
                yield block
            inside = not inflate.eof
            if inside:
                rest = inflate.unconsumed_tail
            else:
                rest = inflate.unused_data
                inflate = zlib.decompressobj(wbits=31)
    if inside:
        if block := inflate.flush():
            yield block
        if not inflate.eof:
            _cut_short(source, "gzip", text + len(block))


def _unzstd(source: Source) -> Iterator[bytes]:
    decoder = zstandard.ZstdDecompressor().decompressobj()
    inside, stored, text = False, 0, 0
    blocks: list[bytes] = []
    weight = 0
    for piece in _plain(source, 0, source.object.size):
        for index in range(0, len(piece), _ZSTD_STEP):
            rest = piece[index : index + _ZSTD_STEP]
            while rest:
                try:
                    block = decoder.decompress(rest)
                except zstandard.ZstdError:
                    _damaged(source, "zstd", stored + index, text)
                text += len(block)
                weight += len(block)
                blocks.append(block)
                inside, rest = True, b""
                if decoder.eof:
                    rest = decoder.unused_data
                    decoder = zstandard.ZstdDecompressor().decompressobj()
                    inside = False
            if weight >= BLOCK // 4:
                yield b"".join(blocks)
                blocks, weight = [], 0
        stored += len(piece)
    if weight:
        yield b"".join(blocks)
    if inside:
        _cut_short(source, "zstd", text)


def _damaged(source: Source, kind: str, stored: int, text: int) -> Never:
    so_far = f"after {show_bytes(text)} of text" if text else "from its beginning"
    raise BadInputError(
        f"{source.object.key}: is not valid {kind} {so_far} (near stored byte {stored:,} of "
        f"{source.object.size:,}); upload it again, or rename it if it isn't {kind}"
    )


def _cut_short(source: Source, kind: str, text: int) -> Never:
    raise BadInputError(
        f"{source.object.key}: its {kind} data is cut short: it ends after {show_bytes(text)} of "
        f"text in the middle of a stream ({source.object.size:,} stored bytes); upload it whole"
    )
