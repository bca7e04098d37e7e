"""Results and rejected records of a run as lines a person can read, in input order."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from gristmill.client.plan import Run
from gristmill.client.state import read_state
from gristmill.formats.open import open_writer
from gristmill.runtime.commit import REJECTED
from gristmill.store.open import open_store


def result_lines(run: Run) -> Iterator[str]:
    """One JSON object a record, from finished shards."""
    writer = open_writer(run.spec.blueprint.output.format, (), run.plan.carried)
    output = open_store(run.spec.blueprint.output.uri)
    with tempfile.TemporaryDirectory(prefix="gristmill-") as folder:
        for _, shard in sorted(read_state(run.store).shards.items()):
            for file in shard.results:
                if file.name == "results" and file.records:
                    path = Path(folder) / "results"
                    path.write_bytes(output.get(file.key))
                    yield from writer.lines(path)


def rejected_lines(run: Run) -> Iterator[str]:
    """One JSON object a rejected record, from every part that is published: whoever stopped for
    too many of them wants to see them."""
    state = read_state(run.store)
    files = [(index, 0, shard.dead_letter) for index, shard in state.shards.items()]
    for (index, part), manifest in state.parts.items():
        found = (file for file in manifest.files if file.name == REJECTED)
        files.append((index, part, next(found, None)))
    for _, _, file in sorted(files, key=lambda entry: entry[:2]):
        if file is not None:
            yield from run.store.get(file.key).decode().removesuffix("\n").split("\n")
