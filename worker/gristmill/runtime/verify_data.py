"""Every file has the bytes its manifest says, and holds each record once and in order."""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from gristmill.contract.canonical import sha256
from gristmill.contract.errors import ObjectMissingError
from gristmill.contract.manifest import DataFile, PartManifest, ShardManifest
from gristmill.contract.shard import Shard
from gristmill.formats.dead_letter import read_dead_letter
from gristmill.runtime.read import StoreSource
from gristmill.runtime.verdict import Evidence, Verdict
from gristmill.store.protocol import ObjectStore


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
