"""Parts of a finished run, inferred again: to see whether they come out the same, or to give
records that the engine refused another chance."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gristmill.contract import layout
from gristmill.contract.canonical import decode, sha256
from gristmill.contract.clock import Clock
from gristmill.contract.errors import BadInputError, SpecMismatchError
from gristmill.contract.manifest import PartManifest
from gristmill.contract.model import model_revision
from gristmill.contract.record import Outcome, Rejected, RejectionClass
from gristmill.contract.run import RunSpec
from gristmill.contract.ticket import Ticket
from gristmill.engines.load import load_engine
from gristmill.engines.protocol import Engine
from gristmill.formats.protocol import Reader, Writer
from gristmill.runtime.commit import OUTCOMES, Commit
from gristmill.runtime.infer import infer_part
from gristmill.runtime.part import NOTHING, PlannedPart
from gristmill.runtime.plan import PlanPages
from gristmill.runtime.read import ReadPart, ShardReader
from gristmill.store.protocol import ObjectStore

Load = Callable[[RunSpec, Clock], Engine]


def load(spec: RunSpec, clock: Clock) -> Engine:
    """A run's engine on this machine. Raises SpecMismatchError for another model."""
    task = spec.blueprint.task
    if (revision := model_revision(task)) != spec.model_revision:
        raise SpecMismatchError(
            f"the model here is not the one of the run: {revision}, the run has "
            f"{spec.model_revision}; restore the model"
        )
    return load_engine(
        task,
        dialect=spec.blueprint.output.format.kind,
        seed=spec.blueprint.seed,
        threads=None,
        clock=clock,
    )


@dataclass(frozen=True, slots=True)
class Again:
    """Everything it takes. Reads and publishes in place: a person waits for it."""

    spec: RunSpec
    run: ObjectStore
    inputs: ObjectStore
    plan: PlanPages
    reader: Reader
    writer: Writer
    engine: Engine
    commit: Commit
    clock: Clock

    async def same_bytes(self, manifest: PartManifest) -> bool:
        """Whether a part, run again, gives the files that its manifest names."""
        part = await self._infer(manifest, ())
        bodies = self.writer.encode(part.read.records, part.outcomes)
        found = {name: sha256(body) for name, (body, _) in bodies.items()}
        names = self.writer.extensions
        return found == {file.name: file.sha256 for file in manifest.files if file.name in names}

    async def retry_part(
        self, manifest: PartManifest, reason: RejectionClass, generation: int
    ) -> PartManifest:
        """Infer the records rejected for this reason alone, keep the others' outcomes, and publish
        the part as of this generation."""
        key = next(file.key for file in manifest.files if file.name == OUTCOMES)
        part = await self._infer(manifest, (key,), reason)
        made, _ = self.commit.publish_part(part, generation)
        return made

    def retry_shard(self, shard: int, generation: int) -> None:
        """Publish a shard's results anew, from the latest generation of each part."""
        parts = self.parts(shard)
        self.commit.publish_shard(shard, [parts[index] for index in sorted(parts)], generation)

    def parts(self, shard: int) -> dict[int, PartManifest]:
        """Of each part the manifest that holds: the last generation's."""
        found: dict[int, PartManifest] = {}
        for info in self.run.list(layout.parts_prefix(shard)):
            manifest = decode(PartManifest, self.run.get(info.key), f"{self.run.uri}/{info.key}")
            found[manifest.part] = manifest
        return found

    async def _infer(
        self,
        manifest: PartManifest,
        kept_in: Iterable[str],
        reason: RejectionClass | None = None,
    ) -> PlannedPart:
        read = self._read(manifest)
        kept, seconds = self.commit.kept(list(kept_in)) if reason else (NOTHING, 0.0)
        part = PlannedPart(
            read,
            self.engine.prepare(read.records),
            self.engine.profile,
            {index: outcome for index, outcome in kept.items() if not _for(outcome, reason)},
            seconds,
            alone=reason is not None,
        )
        await infer_part(self.engine, self.clock, part)
        return part

    def _read(self, manifest: PartManifest) -> ReadPart:
        ticket = Ticket(
            manifest.shard, manifest.part, manifest.part + 1, manifest.start, manifest.first
        )
        read = ShardReader(
            self.plan.shard(manifest.shard),
            self.reader,
            self.inputs,
            self.spec.blueprint.part,
            self.spec.limit,
            {},
            ticket,
        ).next_part()
        if read is None or len(read.records) != manifest.counts.records:
            raise BadInputError(
                f"shard {manifest.shard} part {manifest.part}: the input holds "
                f"{len(read.records) if read else 0} records there, its manifest counts "
                f"{manifest.counts.records}; see `gristmill verify --deep`"
            )
        return read


def _for(outcome: Outcome, reason: RejectionClass | None) -> bool:
    return isinstance(outcome, Rejected) and outcome.reason is reason
