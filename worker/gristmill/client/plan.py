"""Blueprint + input as it lies now -> a run: RunSpec and ShardPlan, each published once."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gristmill import __version__
from gristmill.client.cut import cut_shards
from gristmill.client.listing import Listing, changes, list_input, would_read
from gristmill.contract import layout
from gristmill.contract.blueprint import Blueprint
from gristmill.contract.canonical import canonical_json, decode
from gristmill.contract.column import Column
from gristmill.contract.errors import (
    BadInputError,
    ConfigError,
    ObjectMissingError,
    SpecMismatchError,
    UsageError,
)
from gristmill.contract.location import locate
from gristmill.contract.model import model_revision
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import InputObject, Shard, ShardPlan, decode_page, encode_page
from gristmill.formats.open import open_reader
from gristmill.formats.protocol import Reader
from gristmill.runtime.read import StoreSource
from gristmill.store.open import open_store
from gristmill.store.protocol import ObjectStore

PAGE_SHARDS: Final = 1000
_RUN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")

Progress = Callable[[str, int], None]
"""Hears what is being done and how much of it is: ("objects listed", 40000)."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory that has its RunSpec and its plan."""

    store: ObjectStore
    spec: RunSpec
    plan: ShardPlan
    created: bool
    """False: it was there, and this is another go at it."""


def open_run(
    blueprint: Blueprint,
    runs: str,
    run: str | None = None,
    limit: int | None = None,
    progress: Progress = lambda _what, _count: None,
) -> Run:
    """Plan a run, or find the same one planned before. Does nothing twice.

    Without a name the run is called after what decides its results, so that the same command
    is the same run. Raises SpecMismatchError when the name belongs to another blueprint, model
    or input; BadInputError, ConfigError, StorageError.
    """
    _refuse_nested(blueprint, runs)
    if run is not None and _RUN_NAME.fullmatch(run) is None:
        raise UsageError(
            f"--run-id {run}: must be letters, digits, `.`, `_` or `-`, start with a letter or "
            "digit and have at most 128 characters"
        )
    reader = open_reader(blueprint.input, blueprint.output.carry)
    inputs = open_store(locate(blueprint.input.uri).root)
    listing = list_input(inputs, blueprint.input, lambda n: progress("objects listed", n))
    spec = _resolve(blueprint, listing, run, limit)
    store = open_store(f"{runs.rstrip('/')}/{spec.run}")
    if (plan := _published_plan(store)) is not None:
        return Run(store, _elect(store, spec, listing)[0], plan, created=False)
    # Drafted before the run takes its name, so that damaged input, once mended, may have it.
    draft = _draft_plan(spec, listing, reader, inputs, progress)
    spec, created = _elect(store, spec, listing)
    return Run(store, spec, _publish_plan(store, draft), created)


def find_run(name: str, runs: str) -> Run:
    """A run planned before, by its name under `runs` or by the URI of its directory.

    Raises UsageError when there is none.
    """
    is_place = "/" in name
    uri = name.rstrip("/") if is_place else f"{runs.rstrip('/')}/{name}"
    store = open_store(uri)
    spec = _published_spec(store)
    if spec is None:
        raise UsageError(
            f"no run at {store.uri} (no {layout.RUN} there); name a run under {runs}, give the "
            "path of its directory, or say where runs lie with --runs or GRISTMILL_RUNS"
        )
    plan = _published_plan(store)
    if plan is None:
        raise UsageError(f"{store.uri}: its plan is unfinished; repeat the `gristmill run` command")
    return Run(store, spec, plan, created=False)


def refuse_changed_input(run: Run) -> None:
    """Raises SpecMismatchError when the input is no longer the one that was planned."""
    blueprint = run.spec.blueprint
    inputs = open_store(locate(blueprint.input.uri).root)
    listing = list_input(inputs, blueprint.input)
    if listing.digest != run.spec.listing:
        raise _changed_input(run.store, run.spec, listing)


def planned_shards(store: ObjectStore, plan: ShardPlan) -> Iterable[Shard]:
    """Every shard of a published plan, in order, a page at a time."""
    for page in range(-(-plan.shards // plan.page_shards)):
        yield from decode_page(store.get(layout.plan_page(page)))


def _refuse_nested(blueprint: Blueprint, runs: str) -> None:
    """Raises ConfigError when a later listing of the input would find what the run wrote."""
    source, output = blueprint.input, blueprint.output
    extension = "parquet" if output.format.kind == "parquet" else "jsonl"
    written = {
        "output.uri": (output.uri, (layout.result(0, "results", extension),)),
        "--runs": (
            runs,
            (
                f"run/{layout.RUN}",
                f"run/{layout.plan_page(0)}",
                f"run/{layout.part_data(0, 0, 'attempt', 'digest', 'results', extension)}",
            ),
        ),
    }
    for what, (place, keys) in written.items():
        if any(would_read(source, f"{place.rstrip('/')}/{key}") for key in keys):
            raise ConfigError(
                f"{what}: {place} lies inside the input {source.uri}, so what is written there "
                "would be read as input; choose a place outside it"
            )


def _resolve(blueprint: Blueprint, listing: Listing, run: str | None, limit: int | None) -> RunSpec:
    spec = RunSpec(
        run=run or "",
        blueprint=blueprint,
        model_revision=model_revision(blueprint.task),
        listing=listing.digest,
        limit=limit,
        gristmill=__version__,
    )
    name = run or f"{blueprint.name}-{spec.identity()[:8]}"
    output = blueprint.output.model_copy(
        update={"uri": blueprint.output.uri.replace("{run}", name)}
    )
    return spec.model_copy(
        update={"run": name, "blueprint": blueprint.model_copy(update={"output": output})}
    )


def _elect(store: ObjectStore, mine: RunSpec, listing: Listing) -> tuple[RunSpec, bool]:
    """(the RunSpec that holds, whether this call made the run)."""
    theirs = _published_spec(store)
    if theirs is None:
        _refuse_foreign_results(mine)
        if store.put_new(layout.RUN, canonical_json(mine)):
            return mine, True
        theirs = _published_spec(store) or mine
    if theirs.identity() == mine.identity():
        return theirs, False
    if theirs.model_copy(update={"listing": mine.listing}).identity() == mine.identity():
        raise _changed_input(store, theirs, listing)
    raise SpecMismatchError(
        f"run {mine.run} was begun with another blueprint or model; a changed blueprint is a new "
        "run: give it another --run-id, or undo the change. What differs:\n  "
        + "\n  ".join(theirs.differences(mine))
    )


def _changed_input(store: ObjectStore, spec: RunSpec, listing: Listing) -> SpecMismatchError:
    plan = _published_plan(store)
    before: dict[str, InputObject] = {}
    for shard in planned_shards(store, plan) if plan else ():
        before |= {item.key: item for item in shard.objects}
    what = changes(before, {item.key: item for item in listing.objects})
    return SpecMismatchError(
        f"run {spec.run} was begun with another input; changed input is a new run: give it another "
        "--run-id, or restore the input. What differs:\n  " + "\n  ".join(what)
    )


def _refuse_foreign_results(spec: RunSpec) -> None:
    output = open_store(spec.blueprint.output.uri)
    found = next((i.key for i in output.list() if layout.is_result(i.key)), None)
    if found is not None:
        raise ConfigError(
            f"output.uri: {output.uri} already holds another run's results ({found}); choose an "
            "empty place (`{run}` in output.uri stands for the run's id), or delete them"
        )


def _published_spec(store: ObjectStore) -> RunSpec | None:
    try:
        return decode(RunSpec, store.get(layout.RUN), f"{store.uri}/{layout.RUN}")
    except ObjectMissingError:
        return None


def _published_plan(store: ObjectStore) -> ShardPlan | None:
    try:
        return decode(ShardPlan, store.get(layout.PLAN), f"{store.uri}/{layout.PLAN}")
    except ObjectMissingError:
        return None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A plan not yet published."""

    head: ShardPlan
    pages: tuple[bytes, ...]


def _draft_plan(
    spec: RunSpec,
    listing: Listing,
    reader: Reader,
    inputs: ObjectStore,
    progress: Progress,
) -> _Draft:
    """Raises BadInputError when there is no record, or an object is damaged as a whole."""
    blueprint = spec.blueprint
    carried = _carried(reader, inputs, listing)
    shards = cut_shards(
        listing.objects,
        reader,
        lambda item: StoreSource(inputs, item),
        blueprint.shard.bytes,
        single=spec.limit is not None,
    )
    count = 0
    pages: list[bytes] = []
    while batch := list(islice(shards, PAGE_SHARDS)):
        pages.append(encode_page(batch))
        count += len(batch)
        progress("shards planned", count)
    if not count:
        raise BadInputError(f"{blueprint.input.uri}: its objects hold no record")
    head = ShardPlan(
        shards=count,
        objects=len(listing.objects),
        bytes=sum(item.size for item in listing.objects),
        page_shards=PAGE_SHARDS,
        skipped=listing.skipped,
        carried=carried,
    )
    return _Draft(head, tuple(pages))


def _publish_plan(store: ObjectStore, draft: _Draft) -> ShardPlan:
    """Pages first, the head last: a plan is there whole or not at all. Safe to do again."""
    for page, body in enumerate(draft.pages):
        store.put_new(layout.plan_page(page), body)
    store.put_new(layout.PLAN, canonical_json(draft.head))
    return draft.head


def _carried(reader: Reader, inputs: ObjectStore, listing: Listing) -> tuple[Column, ...]:
    first = StoreSource(inputs, listing.objects[0]) if reader.footers else None
    return reader.columns(first)
