"""Engines with a named fault, for the runtime's tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from anyio.lowlevel import checkpoint

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.errors import EngineDeadError
from gristmill.contract.record import Completed, Outcome, Record
from gristmill.engines.protocol import Engine, EngineProfile, Prepared

PROFILE = EngineProfile(
    columns=(Column(name="text", type=ColumnType.STRING),),
    slots=1,
    batch_tokens=None,
    batch_records=8,
    batch_stable=True,
)


class RecordError(Exception):
    """What an engine library raises on a batch that holds a bad record."""


@dataclass
class Brittle:
    """Raises on every batch that holds one of the `bad` members; remembers every call."""

    bad: set[int]
    profile: EngineProfile = PROFILE
    checkpoints: int = 1
    """How long a batch takes."""
    calls: list[tuple[int, ...]] = field(default_factory=list)
    probes: int = 0

    def prepare(self, records: Sequence[Record]) -> Prepared:
        return Prepared([1] * len(records), {}, records)

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        for _ in range(self.checkpoints):
            await checkpoint()
        self.calls.append(tuple(members))
        if self.bad.intersection(members):
            raise RecordError("a record in the batch is bad")
        return [Completed((str(member),)) for member in members]

    async def probe(self) -> None:
        self.probes += 1

    async def aclose(self) -> None:
        pass


@dataclass
class Lame(Brittle):
    """As Brittle, but fails on what is known to be good too, in the library's own words."""

    async def probe(self) -> None:
        raise RuntimeError("device lost")


class Wrapped:
    """Another engine, with a fault put before its inference."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.batches = 0

    @property
    def profile(self) -> EngineProfile:
        return self._engine.profile

    def prepare(self, records: Sequence[Record]) -> Prepared:
        return self._engine.prepare(records)

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        await self.before(len(members))
        self.batches += 1
        return await self._engine.infer(prepared, members)

    async def before(self, records: int) -> None:
        pass

    async def probe(self) -> None:
        await self._engine.probe()

    async def aclose(self) -> None:
        await self._engine.aclose()


class DieAfter(Wrapped):
    """Dies for good after so many batches."""

    def __init__(self, engine: Engine, *, batches: int) -> None:
        super().__init__(engine)
        self._lifetime = batches

    async def before(self, records: int) -> None:
        if self.batches >= self._lifetime:
            raise EngineDeadError(f"died after {self._lifetime} batches")


class Watched(Wrapped):
    """Counts the records inferred and the most batches that were in flight at once."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.records = 0
        self.most = 0
        self._now = 0

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            outcomes = await super().infer(prepared, members)
        finally:
            self._now -= 1
        self.records += len(members)
        return outcomes


class SmallBatches(Watched):
    """Takes at most so many records at once."""

    def __init__(self, engine: Engine, *, records: int) -> None:
        super().__init__(engine)
        self._profile = replace(engine.profile, batch_records=records)

    @property
    def profile(self) -> EngineProfile:
        return self._profile
