"""The splits tile every object, and the parts tile every shard: from manifests alone."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from gristmill.contract.manifest import Counts, PartManifest, ShardManifest
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import Cursor, Shard, Split
from gristmill.runtime.verdict import Gap, Verdict


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
