"""`gristmill replay` and `gristmill retry`."""

import uuid
from typing import Annotated

import typer

from gristmill.cli.console import print_json, say
from gristmill.cli.options import Json, RunName, Runs, here
from gristmill.client import again
from gristmill.client.plan import find_run, refuse_changed_input
from gristmill.contract.manifest import Determinism
from gristmill.contract.record import RejectionClass
from gristmill.runtime.host import WallClock

MEANING = {
    Determinism.BYTES: "every file came out with the same bytes",
    Determinism.CONFIG: "the same seeds and versions gave other bytes",
    Determinism.RECORDS: "another version of gristmill gave other bytes, one outcome a record",
}


def replay(
    run: RunName,
    sample: Annotated[int, typer.Option("--sample", min=1, help="Parts to run again.")] = 10,
    runs: Runs = "runs",
    json: Json = False,
) -> None:
    """Run a sample of a finished run's parts again, and say how far they come out the same."""
    found = find_run(run, here(runs))
    refuse_changed_input(found)
    seen = again.replay(found, sample, _attempt(), WallClock(), _progress(silent=json))
    if json:
        print_json(seen)
    else:
        say(
            f"{seen.determinism}: {MEANING[seen.determinism]} ({seen.same_bytes} of {seen.parts} "
            "parts have the same bytes); written to the run's manifest"
        )


def retry(
    run: RunName,
    only: Annotated[
        RejectionClass,
        typer.Option("--only", help="Why the records were rejected that get another chance."),
    ],
    runs: Runs = "runs",
    json: Json = False,
) -> None:
    """Give a finished run's rejected records of one class another chance, on this machine."""
    found = find_run(run, here(runs))
    refuse_changed_input(found)
    done = again.retry(found, only, _attempt(), WallClock(), _progress(silent=json))
    if json:
        print_json(done)
    elif not done.records:
        say(f"run {done.run} rejected no record for `{only}`; nothing was done")
    else:
        say(
            f"{done.records:,} records were inferred again, {done.mended:,} completed; the results "
            f"hold them, as generation {done.generation}"
        )


def _attempt() -> str:
    return uuid.uuid4().hex[:12]


def _progress(*, silent: bool) -> again.Progress:
    def tell(done: int, total: int) -> None:
        if not silent:
            say(f"{done} of {total}")

    return tell
