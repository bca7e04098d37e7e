"""Outcomes -> part -> shard: data under a key of this attempt, then one create-only manifest."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json, decode, sha256
from gristmill.contract.column import Column
from gristmill.contract.errors import ObjectMissingError, SpecMismatchError, StorageError
from gristmill.contract.manifest import (
    Counts,
    DataFile,
    PartialManifest,
    PartManifest,
    ShardManifest,
)
from gristmill.contract.record import Outcome, RejectionClass
from gristmill.formats.dead_letter import encode_dead_letter
from gristmill.formats.protocol import Writer
from gristmill.runtime.part import PlannedPart
from gristmill.runtime.partial import decode_partial, encode_partial
from gristmill.store.protocol import ObjectStore

REJECTED = "rejected"
OUTCOMES = "outcomes"
_REMEDY = "delete its part manifest and resume to compute it again"


class Commit:
    """Publishes what this attempt did. Every method blocks and may be repeated harmlessly."""

    def __init__(
        self,
        run: ObjectStore,
        output: ObjectStore,
        writer: Writer,
        columns: tuple[Column, ...],
        spec: str,
        attempt: str,
    ) -> None:
        self._run = run
        self._output = output
        self._writer = writer
        self._columns = columns
        self._spec = spec
        self._attempt = attempt

    def publish_part(self, part: PlannedPart, generation: int = 0) -> tuple[PartManifest, bool]:
        """(the manifest that holds, whether it is ours). The first put of a generation wins, for
        good."""
        mine = self._manifest(part, tuple(self._put_data(part)), generation)
        key = layout.part_manifest(mine.shard, mine.part, generation)
        if self._run.put_new(key, canonical_json(mine)):
            return mine, True
        # A storage may say that it was there when our own put arrived and its answer was lost.
        elected = decode(PartManifest, self._run.get(key), f"{self._run.uri}/{key}")
        return elected, elected == mine

    def publish_partial(self, part: PlannedPart) -> None:
        """Keep what was inferred of a part that was cut short, for whoever does it next."""
        key = layout.partial(part.read.shard, part.read.part, self._attempt)
        self._run.put_new(key, self._inferred(part))

    def _inferred(self, part: PlannedPart) -> bytes:
        outcomes = part.inferred
        head = PartialManifest(
            spec=self._spec,
            shard=part.read.shard,
            part=part.read.part,
            attempt=self._attempt,
            start=part.read.start,
            records=len(outcomes),
            engine_seconds=part.engine_seconds,
        )
        return encode_partial(head, self._columns, outcomes)

    def kept(self, keys: Sequence[str]) -> tuple[dict[int, Outcome], float]:
        """(outcomes, engine seconds) of one part's partials: index in the part -> outcome."""
        outcomes: dict[int, Outcome] = {}
        seconds = 0.0
        for key in keys:
            where = f"{self._run.uri}/{key}"
            head, found = decode_partial(self._run.get(key), self._columns, where)
            if head.spec != self._spec:
                raise SpecMismatchError(f"{where}: belongs to another run; start a new run")
            outcomes |= found
            seconds = max(seconds, head.engine_seconds)
        return outcomes, seconds

    def publish_shard(
        self, shard: int, parts: Sequence[PartManifest], generation: int = 0
    ) -> tuple[ShardManifest, bool]:
        """Compact the elected parts to the files a reader sees, then say that the shard is done:
        (the manifest that holds, whether it is ours).

        The files are a pure function of the elected parts, so two workers that do this at once
        write the same bytes.
        """
        results = []
        for name, extension in self._writer.extensions.items():
            key = layout.result(shard, name, extension)
            if (file := self._merge(self._output, name, key, parts)) is not None:
                results.append(file)
        mine = ShardManifest(
            spec=self._spec,
            shard=shard,
            attempt=self._attempt,
            generation=generation,
            parts=len(parts),
            counts=Counts.total(part.counts for part in parts),
            engine_seconds=sum(part.engine_seconds for part in parts),
            results=tuple(results),
            dead_letter=self._merge(self._run, REJECTED, layout.dead_letter(shard), parts),
        )
        key = layout.shard_manifest(shard, generation)
        if self._run.put_new(key, canonical_json(mine)):
            return mine, True
        elected = decode(ShardManifest, self._run.get(key), f"{self._run.uri}/{key}")
        return elected, elected == mine

    def _put_data(self, part: PlannedPart) -> Iterable[DataFile]:
        records, outcomes = part.read.records, part.outcomes
        bodies = {
            name: (self._writer.extensions[name], body, count)
            for name, (body, count) in self._writer.encode(records, outcomes).items()
        }
        rejected, count = encode_dead_letter(records, outcomes, self._attempt)
        if count:
            bodies[REJECTED] = ("jsonl", rejected, count)
        if RejectionClass.ENGINE in part.counts().rejected:
            bodies[OUTCOMES] = ("jsonl", self._inferred(part), len(part.inferred))
        for name, (extension, body, count) in bodies.items():
            digest = sha256(body)
            key = layout.part_data(
                part.read.shard, part.read.part, self._attempt, digest, name, extension
            )
            self._run.put(key, body)
            yield DataFile(name=name, key=key, sha256=digest, bytes=len(body), records=count)

    def _manifest(
        self, part: PlannedPart, files: tuple[DataFile, ...], generation: int
    ) -> PartManifest:
        return PartManifest(
            spec=self._spec,
            shard=part.read.shard,
            part=part.read.part,
            attempt=self._attempt,
            first=part.read.first,
            start=part.read.start,
            end=part.read.end,
            last=part.read.last,
            generation=generation,
            counts=part.counts(),
            files=files,
            engine_seconds=part.engine_seconds,
        )

    def _merge(
        self, store: ObjectStore, name: str, key: str, parts: Sequence[PartManifest]
    ) -> DataFile | None:
        files = [file for part in parts for file in part.files if file.name == name]
        if not files and name != "results":
            return None
        with _scratch() as folder:
            target = folder / "merged"
            bodies = (self._checked(file) for file in files)
            if name == REJECTED:
                _concatenate(bodies, target)
            else:
                self._writer.merge(name, bodies, target)
            store.put_file(key, target)
            return DataFile(
                name=name,
                key=key,
                sha256=_file_sha256(target),
                bytes=target.stat().st_size,
                records=sum(file.records for file in files),
            )

    def _checked(self, file: DataFile) -> bytes:
        where = f"{self._run.uri}/{file.key}"
        try:
            body = self._run.get(file.key)
        except ObjectMissingError as error:
            raise StorageError(f"{where}: was deleted; {_REMEDY}") from error
        if sha256(body) != file.sha256:
            raise StorageError(
                f"{where}: its bytes are not those that were written (sha256 differs); {_REMEDY}"
            )
        return body


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder of this machine, removed afterwards."""
    try:
        with tempfile.TemporaryDirectory(prefix="gristmill-") as folder:
            yield Path(folder)
    except OSError as error:
        raise StorageError(
            f"{tempfile.gettempdir()}: the scratch folder can't be used ({error.strerror or error})"
            "; free some space there, or name another place in TMPDIR, and resume"
        ) from error


def _concatenate(bodies: Iterable[bytes], target: Path) -> None:
    with target.open("wb") as out:
        for body in bodies:
            out.write(body)


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
