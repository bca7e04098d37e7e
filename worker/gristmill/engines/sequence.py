"""Token sequences: padded to a rectangle, and cut to what one forward pass may hold."""

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sequence:
    """One text or pair of texts, as the model reads it."""

    ids: npt.NDArray[np.int32]
    segments: npt.NDArray[np.int32] | None
    """Which of a pair's texts each token belongs to; None: all to the first."""


@dataclass(frozen=True, slots=True)
class Padded:
    """Sequences side by side, as long as the longest; all three have the same shape."""

    ids: Ints
    mask: Ints
    segments: Ints


def pad(sequences: SequenceOf[Sequence], filler: int, side: Literal["left", "right"]) -> Padded:
    longest = max(len(sequence.ids) for sequence in sequences)
    shape = (len(sequences), longest)
    ids = np.full(shape, filler, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    segments = np.zeros(shape, dtype=np.int64)
    for row, sequence in enumerate(sequences):
        length = len(sequence.ids)
        place = slice(longest - length, longest) if side == "left" else slice(length)
        ids[row, place] = sequence.ids
        mask[row, place] = 1
        if sequence.segments is not None:
            segments[row, place] = sequence.segments
    return Padded(ids, mask, segments)


def cut(lengths: SequenceOf[int], tokens: int) -> list[list[int]]:
    """Indices in passes of at most `tokens`, padding included. One pass where all of them fit."""
    if len(lengths) * max(lengths, default=0) <= tokens:
        return [list(range(len(lengths)))]
    passes: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if passes and (len(passes[-1]) + 1) * lengths[passes[-1][0]] <= tokens:
            passes[-1].append(index)
        else:
            passes.append([index])
    return passes
