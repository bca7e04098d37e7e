"""`gristmill verify`."""

from typing import Annotated, Any

import typer

from gristmill.cli.console import complain, print_json, say
from gristmill.cli.options import Json, RunName, Runs, here
from gristmill.client.finish import verify as prove
from gristmill.client.plan import find_run
from gristmill.contract.process import ExitCode
from gristmill.runtime.verdict import Verdict

SHOWN = 20
"""Gaps named one by one; the rest is a number (--json has all)."""


def verify(
    run: RunName,
    runs: Runs = "runs",
    deep: Annotated[
        bool, typer.Option("--deep", help="Read the inputs again and match every record.")
    ] = False,
    json: Json = False,
) -> None:
    """Prove from manifests and data that every input record has exactly one outcome."""
    found = find_run(run, here(runs))
    verdict = prove(found, deep=deep)
    if json:
        print_json(_plain(verdict, deep=deep))
    else:
        _tell(verdict, deep=deep)
    if verdict.gaps:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _plain(verdict: Verdict, *, deep: bool) -> dict[str, Any]:
    return {
        "sound": not verdict.gaps,
        "deep": deep,
        "gaps": [{"where": gap.where, "what": gap.what} for gap in verdict.gaps],
        "objects": verdict.objects,
        "shards": verdict.shards,
        "parts": verdict.parts,
        "files": verdict.files,
        "records": verdict.counts.records,
        "ok": verdict.counts.ok,
        "rejected": verdict.counts.rejected_total,
        "repeated_ids": verdict.repeated_ids,
    }


def _tell(verdict: Verdict, *, deep: bool) -> None:
    counts = verdict.counts
    for gap in verdict.gaps[:SHOWN]:
        complain(f"{gap.where}: {gap.what}")
    if len(verdict.gaps) > SHOWN:
        complain(f"and {len(verdict.gaps) - SHOWN:,} more")
    if verdict.repeated_ids:
        say(f"{verdict.repeated_ids:,} records have an id that an earlier record has too")
    how = "the inputs were read again" if deep else "--deep reads the inputs again too"
    say(
        f"{'NOT sound' if verdict.gaps else 'sound'}: {counts.records:,} records = "
        f"{counts.ok:,} ok + {counts.rejected_total:,} rejected, in {verdict.parts:,} parts of "
        f"{verdict.shards:,} shards over {verdict.objects:,} objects; "
        f"{verdict.files:,} files checked; {how}"
    )
