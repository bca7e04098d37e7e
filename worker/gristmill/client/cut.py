"""Listed objects -> shards. Reads no data: only footers where the format has them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from gristmill.contract.shard import InputObject, Shard, Split
from gristmill.formats.protocol import Reader, Source

FOOTERS_AT_ONCE: Final = 32
MOST_SPLITS: Final = 10_000
"""Of one shard, so that a shard of many tiny objects stays a line one can read."""


def cut_shards(
    objects: Sequence[InputObject],
    reader: Reader,
    source: Callable[[InputObject], Source],
    target: int,
    *,
    single: bool = False,
) -> Iterator[Shard]:
    """Shards of about `target` stored bytes, in input order; with `single`, one for everything.

    Raises BadInputError for an object that is damaged as a whole.
    """
    shard = _Growing()
    index = 0
    for piece in _pieces(objects, reader, source, target):
        full = shard.weight + piece.weight > target or len(shard.splits) >= MOST_SPLITS
        if shard.splits and full and not single:
            yield shard.close(index)
            shard, index = _Growing(), index + 1
        shard.add(piece)
    if shard.splits:
        yield shard.close(index)


@dataclass(frozen=True, slots=True)
class _Piece:
    object: InputObject
    start: int
    stop: int | None
    weight: int


@dataclass(slots=True)
class _Growing:
    objects: list[InputObject] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    weight: int = 0

    def add(self, piece: _Piece) -> None:
        if not self.objects or self.objects[-1] is not piece.object:
            self.objects.append(piece.object)
        self.splits.append(Split(len(self.objects) - 1, piece.start, piece.stop))
        self.weight += piece.weight

    def close(self, index: int) -> Shard:
        return Shard(index, tuple(self.objects), tuple(self.splits))


def _pieces(
    objects: Iterable[InputObject],
    reader: Reader,
    source: Callable[[InputObject], Source],
    target: int,
) -> Iterator[_Piece]:
    for item, (extent, cuts) in _cuts(objects, reader, source, target):
        known = replace(item, extent=extent)
        for start, stop in zip([0, *cuts], [*cuts, extent], strict=True):
            share = (stop - start) / extent if extent and stop is not None else 1
            yield _Piece(known, start, stop, round(item.size * share))


def _cuts(
    objects: Iterable[InputObject],
    reader: Reader,
    source: Callable[[InputObject], Source],
    target: int,
) -> Iterator[tuple[InputObject, tuple[int | None, list[int]]]]:
    if not reader.footers:
        for item in objects:
            yield item, reader.cuts(source(item), target)
        return
    with ThreadPoolExecutor(FOOTERS_AT_ONCE, thread_name_prefix="footers") as pool:
        items = list(objects)
        yield from zip(
            items, pool.map(lambda item: reader.cuts(source(item), target), items), strict=True
        )
