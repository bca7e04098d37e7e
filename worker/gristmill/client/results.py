"""Results and rejected records of a run as lines a person can read, in input order."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from gristmill.client.plan import Run
from gristmill.contract import layout
from gristmill.contract.manifest import ShardManifest
from gristmill.formats.open import open_writer
from gristmill.store.open import open_store


def result_lines(run: Run) -> Iterator[str]:
    """One JSON object a record, from finished shards."""
    writer = open_writer(run.spec.blueprint.output.format, (), run.plan.carried)
    output = open_store(run.spec.blueprint.output.uri)
    with tempfile.TemporaryDirectory(prefix="gristmill-") as folder:
        for shard in _finished(run):
            for file in shard.results:
                if file.name == "results" and file.records:
                    path = Path(folder) / "results"
                    path.write_bytes(output.get(file.key))
                    yield from writer.lines(path)


def rejected_lines(run: Run) -> Iterator[str]:
    """One JSON object a rejected record, from finished shards."""
    for shard in _finished(run):
        if shard.dead_letter is not None:
            yield from run.store.get(shard.dead_letter.key).decode().splitlines()


def _finished(run: Run) -> Iterator[ShardManifest]:
    for info in run.store.list(layout.SHARDS):
        if layout.shard_of_manifest(info.key) is not None:
            yield ShardManifest.model_validate_json(run.store.get(info.key))
