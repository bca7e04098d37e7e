"""Proof from manifests and data that every input record has exactly one outcome."""

import hashlib
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from gristmill.contract import layout
from gristmill.contract.canonical import decode, sha256
from gristmill.contract.errors import ObjectMissingError, StorageError
from gristmill.contract.manifest import Counts, DataFile, PartManifest, ShardManifest
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import Cursor, Shard, Split
from gristmill.formats.dead_letter import read_dead_letter
from gristmill.formats.protocol import Reader, Writer
from gristmill.runtime.read import StoreSource
from gristmill.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is not as it must be."""

    where: str
    """Which object, shard, part or file."""
    what: str


@dataclass(slots=True)
class Verdict:
    """What was checked and what was found wrong. Sound when `gaps` is empty."""

    gaps: list[Gap] = field(default_factory=list)
    shards: int = 0
    parts: int = 0
    files: int = 0
    objects: int = 0
    counts: Counts = field(default_factory=Counts)
    marks: "array[int]" = field(default_factory=lambda: array("q"))
    """A 64-bit hash of each record's id. Deep only: 8 bytes a record."""

    @property
    def repeated_ids(self) -> int:
        """Records whose id an earlier record has too; no gap, since places tell records apart."""
        return len(self.marks) - len(np.unique(np.frombuffer(self.marks, np.int64)))

    def miss(self, where: str, what: str) -> None:
        self.gaps.append(Gap(where, what))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a run's manifests and data lie, and who can read them."""

    spec: RunSpec
    run: ObjectStore
    output: ObjectStore
    inputs: ObjectStore
    reader: Reader
    writer: Writer


def verify_plan(spec: RunSpec, shards: Iterable[Shard], verdict: Verdict) -> None:
    """The splits tile every object that was listed: no byte or row left out or twice."""
    pieces: dict[str, list[Split]] = defaultdict(list)
    extents: dict[str, int | None] = {}
    listed: dict[str, tuple[int, str]] = {}
    for shard in shards:
        for item in shard.objects:
            extents[item.key] = item.extent
            listed[item.key] = (item.size, item.etag)
        for split in shard.splits:
            pieces[shard.objects[split.object].key].append(split)
    hasher = hashlib.sha256()
    for key, (size, etag) in listed.items():
        hasher.update(f"{key}\0{size}\0{etag}\n".encode())
        _tile(key, pieces[key], extents[key], verdict)
    verdict.objects = len(listed)
    if hasher.hexdigest() != spec.listing:
        verdict.miss("plan", "does not hold the objects that were listed when the run began")


def _tile(key: str, splits: list[Split], extent: int | None, verdict: Verdict) -> None:
    at: int | None = 0
    for split in splits:
        if at is None:
            verdict.miss(key, f"is read to its end, and from position {split.start} on once more")
        elif split.start != at:
            low, high = sorted((at, split.start))
            which = "twice" if split.start < at else "never"
            verdict.miss(key, f"positions {low} to {high} are read {which}")
        at = split.stop
    if at != extent:
        verdict.miss(key, f"is read to {at}, and has {extent} positions")


def verify_shard(
    spec: RunSpec, shard: Shard, parts: dict[int, PartManifest], done: ShardManifest | None
) -> list[Gap]:
    """The parts tile the shard, and the shard's manifest sums them up."""
    verdict = Verdict()
    name, identity = f"shard {shard.index}", spec.identity()
    cursor, ordinal = Cursor(0, shard.splits[0].start), 0
    for index in range(max(parts, default=-1) + 1):
        part = parts.get(index)
        if part is None:
            verdict.miss(f"{name} part {index}", "has no manifest, though a later part has one")
            return verdict.gaps
        _chain(f"{name} part {index}", part, identity, cursor, ordinal, verdict)
        cursor, ordinal = part.end, ordinal + part.counts.records
    end = Cursor(len(shard.splits), 0)
    if parts and not parts[max(parts)].last:
        verdict.miss(
            name, f"is unfinished: {len(parts)} parts, the next begins at {_at(shard, cursor)}"
        )
    elif parts and cursor != end:
        verdict.miss(name, "its last part does not reach its end")
    if done is None:
        verdict.miss(name, "has no manifest" if parts else "was not begun")
    elif done.parts != len(parts) or done.counts != Counts.total(p.counts for p in parts.values()):
        verdict.miss(name, "its manifest does not sum up its parts")
    elif done.spec != identity:
        verdict.miss(name, "its manifest belongs to another RunSpec")
    elif _held(done) != (done.counts.ok, done.counts.rejected_total):
        verdict.miss(name, "its files do not hold as many records as it counts")
    return verdict.gaps


def _held(done: ShardManifest) -> tuple[int | None, int]:
    """(results, rejected records) in the files of a finished shard; results None: no such file."""
    results = next((file.records for file in done.results if file.name == "results"), None)
    return results, done.dead_letter.records if done.dead_letter else 0


def _chain(
    name: str, part: PartManifest, identity: str, at: Cursor, ordinal: int, verdict: Verdict
) -> None:
    counts = part.counts
    if part.spec != identity:
        verdict.miss(name, "belongs to another RunSpec")
    if part.start != at or part.first != ordinal:
        verdict.miss(name, "does not begin where the part before it ends")
    if counts.records != counts.ok + counts.rejected_total:
        verdict.miss(name, f"{counts.records} records, {counts.ok} ok + {counts.rejected_total}")
    held = {file.name: file.records for file in part.files}
    if held.get("results", 0) != counts.ok or held.get("rejected", 0) != counts.rejected_total:
        verdict.miss(name, "its files do not hold as many records as it counts")


def _at(shard: Shard, cursor: Cursor) -> str:
    if cursor.split >= len(shard.splits):
        return "its end"
    item = shard.objects[shard.splits[cursor.split].object]
    return f"{item.key}@{cursor.position}"


def verify_data(
    evidence: Evidence,
    shard: Shard,
    parts: dict[int, PartManifest],
    done: ShardManifest,
    verdict: Verdict,
    *,
    deep: bool,
) -> None:
    """Every file has the bytes its manifest says; the results hold the parts' records, each once
    and in order; with `deep`, the inputs are read again and matched record by record."""
    with tempfile.TemporaryDirectory(prefix="gristmill-") as folder:
        places, known = _Files(evidence, Path(folder), verdict), len(verdict.gaps)
        merged = places.fetch_all(evidence.output, done.results)
        letter = [done.dead_letter] if done.dead_letter else []
        merged |= places.fetch_all(evidence.run, letter)
        part_ids: list[Iterator[str]] = []
        for index in sorted(parts):
            files = places.fetch_all(evidence.run, parts[index].files, f"{index}-")
            if "results" in files:
                part_ids.append(evidence.writer.ids("results", files["results"]))
        if len(verdict.gaps) > known:  # of files that are not whole there is no more to say
            return
        name = f"shard {shard.index}"
        ids = list(evidence.writer.ids("results", merged["results"]))
        if ids != list(chain.from_iterable(part_ids)):
            verdict.miss(name, "its results do not hold the records of its parts, in order")
        if deep:
            letters = list(read_dead_letter(merged["rejected"])) if "rejected" in merged else []
            _match_inputs(evidence, shard, ids, letters, verdict)
            verdict.marks.extend(map(hash, ids))
            verdict.marks.extend(hash(id_) for _, id_ in letters)


class _Files:
    """Fetches files to a scratch folder and checks their bytes on the way."""

    def __init__(self, evidence: Evidence, folder: Path, verdict: Verdict) -> None:
        self._evidence = evidence
        self._folder = folder
        self._verdict = verdict

    def fetch_all(
        self, store: ObjectStore, files: Iterable[DataFile], prefix: str = ""
    ) -> dict[str, Path]:
        """Name -> scratch file, of those that are whole."""
        found: dict[str, Path] = {}
        for file in files:
            self._verdict.files += 1
            try:
                body = store.get(file.key)
            except ObjectMissingError:
                self._verdict.miss(f"{store.uri}/{file.key}", "is missing")
                continue
            if sha256(body) != file.sha256:
                self._verdict.miss(f"{store.uri}/{file.key}", "its bytes changed (sha256 differs)")
                continue
            path = self._folder / f"{prefix}{file.name}"
            path.write_bytes(body)
            found[file.name] = path
        return found


def _match_inputs(
    evidence: Evidence,
    shard: Shard,
    ids: list[str],
    letters: Iterable[tuple[str, str]],
    verdict: Verdict,
) -> None:
    """Walk the inputs: each record is the next of the results or the next of the dead letter."""
    name = f"shard {shard.index}"
    results, rejected = iter(ids), iter(letters)
    ok, bad = next(results, None), next(rejected, None)
    for place, id_ in _input_records(evidence, shard):
        if bad is not None and bad == (place, id_):
            bad = next(rejected, None)
        elif ok == id_:
            ok = next(results, None)
        else:
            verdict.miss(f"{name} {place}", "this record has no outcome where it should be")
            return
    if ok is not None or bad is not None:
        verdict.miss(name, "holds outcomes that no input record stands for")


def _input_records(evidence: Evidence, shard: Shard) -> Iterator[tuple[str, str]]:
    ordinal, limit = 0, evidence.spec.limit
    for split in shard.splits:
        source = StoreSource(evidence.inputs, shard.objects[split.object])
        for record in evidence.reader.records(
            source, split.start, split.stop, split.start, ordinal
        ):
            if limit is not None and ordinal >= limit:
                return
            yield record.place, record.id
            ordinal += 1


def verify_run(
    evidence: Evidence,
    shards: Callable[[], Iterable[Shard]],
    *,
    deep: bool = False,
    data: bool = True,
    progress: Callable[[int], None] = lambda _: None,
) -> Verdict:
    """The whole proof. `shards` walks the plan anew at each call.

    Raises StorageError; what is wrong with the run itself becomes a Gap, never an exception.
    """
    verdict = Verdict()
    verify_plan(evidence.spec, shards(), verdict)
    totals: list[Counts] = []
    for shard in shards():
        parts, done, gaps = read_shard_manifests(evidence.run, shard.index)
        gaps = gaps or verify_shard(evidence.spec, shard, parts, done)
        verdict.gaps.extend(gaps)
        verdict.shards += 1
        verdict.parts += len(parts)
        totals.extend(part.counts for part in parts.values())
        if data and not gaps and done is not None:
            verify_data(evidence, shard, parts, done, verdict, deep=deep)
        progress(verdict.shards)
    verdict.counts = Counts.total(totals)
    return verdict


def read_shard_manifests(
    run: ObjectStore, index: int
) -> tuple[dict[int, PartManifest], ShardManifest | None, list[Gap]]:
    """What is published of one shard: its parts, its own manifest if it has one, and a gap for
    each manifest that can't be understood."""
    parts: dict[int, PartManifest] = {}
    done: ShardManifest | None = None
    gaps: list[Gap] = []
    for info in run.list(layout.shard_prefix(index)):
        where = f"{run.uri}/{info.key}"
        try:
            if (found := layout.part_of_manifest(info.key)) is not None:
                parts[found[1]] = decode(PartManifest, run.get(info.key), where)
            elif layout.shard_of_manifest(info.key) is not None:
                done = decode(ShardManifest, run.get(info.key), where)
        except StorageError as error:
            gaps.append(Gap(where, str(error).removeprefix(f"{where}: ")))
    return parts, done, gaps
