"""Echo: answers each text with the text. Needs no model, and plays faults on request."""

import sys
import zlib
from collections.abc import Iterable, Sequence
from typing import Final, cast

import numpy as np
import numpy.typing as npt
from anyio.lowlevel import checkpoint

from gristmill.contract.clock import Clock
from gristmill.contract.column import ColumnType
from gristmill.contract.errors import EngineDeadError
from gristmill.contract.record import Completed, Input, Outcome, Record, Rejected
from gristmill.contract.task import EchoEngine, EchoFaults, Kind
from gristmill.engines.protocol import EngineProfile, Prepared
from gristmill.engines.request import columns_for, refusal, too_long, unsupported
from gristmill.engines.setup import Setup

DIMENSIONS: Final = 8
SLOTS: Final = 64
LABELS: Final = ("north", "east", "south", "west")

Texts = tuple[str, ...]

# Odd multipliers: each spreads the checksum of a text to one number of its vector.
_SPREAD: Final = (np.arange(1, 2 * DIMENSIONS, 2) * 0x9E3779B1).astype(np.uint32)


class RefusedTextError(Exception):
    """`faults.reject_containing` told the engine to raise on a text of the batch."""


def load(setup: Setup) -> "Echo":
    return Echo(cast(EchoEngine, setup.task.engine), setup.task.kind, setup.dialect, setup.clock)


class Echo:
    """A batch engine, or with `continuous` one of many slots that finishes out of order."""

    def __init__(self, options: EchoEngine, kind: Kind, dialect: str, clock: Clock) -> None:
        self._options = options
        self._faults = options.faults or EchoFaults()
        self._kind = kind
        self._clock = clock
        self._batches = 0
        self._profile = EngineProfile(
            columns=columns_for(kind, dialect, DIMENSIONS),
            slots=SLOTS if options.continuous else 1,
            batch_tokens=None,
            batch_records=1 if options.continuous else 1024,
            batch_stable=True,
        )

    @property
    def profile(self) -> EngineProfile:
        return self._profile

    def prepare(self, records: Sequence[Record]) -> Prepared:
        lengths: list[int] = []
        faults: dict[int, Rejected] = {}
        content: list[Texts] = []
        limit = self._options.max_tokens or sys.maxsize
        for index, record in enumerate(records):
            texts, fault = self._read(record)
            tokens = _words(texts)
            if tokens > limit:
                texts, fault, tokens = (), too_long(tokens, limit), 0
            if fault is not None:
                faults[index] = fault
            content.append(texts)
            lengths.append(tokens)
        return Prepared(lengths, faults, content)

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        self._die_if_due()
        self._batches += 1
        texts = [prepared.content[index] for index in members]
        await self._work(texts)
        self._refuse(texts)
        return self._answers(texts, [prepared.lengths[index] for index in members])

    async def probe(self) -> None:
        self._die_if_due()
        await checkpoint()

    async def aclose(self) -> None:
        await checkpoint()

    def _read(self, record: Record) -> tuple[Texts, Rejected | None]:
        inputs = record.inputs
        if record.fault is not None:
            return (), None
        if len(inputs) == 1 and type(inputs[0]) is str and not record.params:
            return cast(Texts, inputs), None
        fault = refusal(record, self._profile.columns)
        if fault is not None:
            return (), fault
        try:
            return tuple(map(_text, inputs)), None
        except UnicodeDecodeError:
            return (), unsupported("is not UTF-8; the echo engine answers with text")

    def _die_if_due(self) -> None:
        lifetime = self._faults.die_after_batches
        if lifetime is not None and self._batches >= lifetime:
            raise EngineDeadError(
                f"the echo engine died after {lifetime} batches, as "
                "task.engine.faults.die_after_batches told it to; remove that to go on"
            )

    async def _work(self, texts: Sequence[Texts]) -> None:
        """Take the time that real work would."""
        rate, continuous = self._options.records_per_second, self._options.continuous
        turn = _checksum(texts[0][0]) % 1000 if continuous and texts else 0
        if rate is None:
            # Cancellable, and in a continuous engine some records finish before earlier ones.
            for _ in range(1 + turn % 5):
                await checkpoint()
        elif continuous:
            await self._clock.sleep(SLOTS / rate * (0.5 + turn / 1000))
        else:
            await self._clock.sleep(len(texts) / rate)

    def _refuse(self, batch: Iterable[Texts]) -> None:
        poison = self._faults.reject_containing
        if poison is not None and any(poison in text for texts in batch for text in texts):
            raise RefusedTextError(
                f"a text of the batch contains {poison[:40]!r}, on which "
                "task.engine.faults.reject_containing makes the engine raise"
            )

    def _answers(self, batch: Sequence[Texts], tokens: Sequence[int]) -> list[Outcome]:
        if self._kind == "transform":
            return list(map(Completed, batch))
        sums = [_checksum(text) for texts in batch for text in texts]
        if self._kind == "score":
            return [Completed((value / 2**32,)) for value in sums]
        if self._kind == "classify":
            return [Completed((LABELS[value % 4], value / 2**32)) for value in sums]
        vectors = _vectors(sums)
        if self._profile.columns[0].type is ColumnType.VECTOR:
            return [Completed((vector,)) for vector in vectors]
        stops = np.cumsum([len(texts) for texts in batch], dtype=np.int64)
        return [
            Completed((rows, count))
            for rows, count in zip(np.split(vectors, stops[:-1]), tokens, strict=True)
        ]


def _text(value: Input) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    return "\n".join(map(str, value)) if isinstance(value[0], str) else " ".join(map(str, value))


def _words(texts: Texts) -> int:
    """Words are what blanks separate: cheap to count."""
    if len(texts) == 1:
        return texts[0].count(" ") + 1
    return sum(text.count(" ") + 1 for text in texts)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _vectors(sums: list[int]) -> npt.NDArray[np.float32]:
    spread = np.array(sums, dtype=np.uint32)[:, None] * _SPREAD[None, :]
    spread = (spread ^ (spread >> 15)) * _SPREAD[-1]
    vectors: npt.NDArray[np.float32] = (spread / 2**31 - 1).astype(np.float32)
    return vectors
