"""Lines of an object, in splits that may be cut anywhere.

A line belongs to the split that holds its first byte. A byte order mark is part of the first line,
so that this line starts at 0, but it is not handed out. Offsets in a compressed object count bytes
of its text.
"""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gristmill.formats.objects import compression, read_blocks, refuse_mislabelled
from gristmill.formats.protocol import Source

KEPT: Final = 4096
"""Bytes kept of a record that is too large."""
_BOM: Final = b"\xef\xbb\xbf"

Line = tuple[int, int, bytes, bool]
"""Offset, offset after its end, the line without its end, and whether it is over the limit and so
only its first bytes are here."""


def line_cuts(source: Source, target: int) -> tuple[int | None, list[int]]:
    """(extent, cuts) of an object of lines, from its name and size alone."""
    size = source.object.size
    if size and compression(source.object.key):
        return None, []
    return size, list(range(target, size - target // 2, target))


def read_lines(source: Source, start: int, stop: int | None, at: int, most: int) -> Iterator[Line]:
    """The lines of the split [start, stop) from `at` on: `start`, or where some line ended.

    A line over `most` bytes is never held whole. Raises BadInputError.
    """
    limit = math.inf if stop is None else stop
    if at >= limit:
        return
    first = at == start
    plain = compression(source.object.key) is None
    if first and start and plain:
        refuse_mislabelled(source, source.read(0, 8))
    # From one byte before: if that ends a line, a line of this split starts at `start`.
    drop = first and start > 0
    offset = start - 1 if drop else at
    held = _Held(most)
    for block in read_blocks(source, offset, stop):
        if first and start == 0 and plain:
            refuse_mislabelled(source, block)
        first = False
        lines = block.split(b"\n")
        tail = lines.pop()
        if lines:
            line, size = held.take(lines[0])
            end = offset + size + 1
            if not drop:
                yield offset, end, _strip(line, offset), size > most
            drop = False
            offset = end
            crlf = b"\r\n" in block
            for line in islice(lines, 1, None):
                if offset >= limit:
                    return
                size = len(line)
                end = offset + size + 1
                if size > most:
                    yield offset, end, line[:KEPT], True
                elif crlf:
                    yield offset, end, line.removesuffix(b"\r"), False
                else:
                    yield offset, end, line, False
                offset = end
            if offset >= limit:
                return
        held.add(tail)
    line, size = held.take(b"")
    if size and not drop:
        yield offset, offset + size, _strip(line, offset), size > most


def _strip(line: bytes, offset: int) -> bytes:
    if offset == 0:
        line = line.removeprefix(_BOM)
    return line.removesuffix(b"\r")


class _Held:
    """A line whose end hasn't come yet; of one over the limit, only the beginning."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._pieces.append(piece)
        if self._size > self._most:
            self._pieces = [b"".join(self._pieces)[:KEPT]]

    def take(self, piece: bytes) -> tuple[bytes, int]:
        """(the line that ends with `piece`, its size). Starts over."""
        self.add(piece)
        line, size = b"".join(self._pieces), self._size
        self._pieces, self._size = [], 0
        return line, size
