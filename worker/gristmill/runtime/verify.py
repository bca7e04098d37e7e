"""Proof from manifests and data that every input record has exactly one outcome."""

from collections.abc import Callable, Iterable

from gristmill.contract import layout
from gristmill.contract.canonical import decode
from gristmill.contract.errors import StorageError
from gristmill.contract.manifest import Counts, PartManifest, ShardManifest
from gristmill.contract.shard import Shard
from gristmill.runtime.verdict import Evidence, Gap, Verdict
from gristmill.runtime.verify_data import verify_data
from gristmill.runtime.verify_tiling import verify_plan, verify_shard
from gristmill.store.protocol import ObjectStore


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
