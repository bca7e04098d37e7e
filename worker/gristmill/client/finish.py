"""The end of a run: the proof, then the RunManifest, written once."""

from collections.abc import Callable

from gristmill.client.plan import Run, planned_shards
from gristmill.client.report import cost
from gristmill.client.state import RunState, read_state
from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json
from gristmill.contract.errors import BadInputError, StorageError
from gristmill.contract.location import locate
from gristmill.contract.manifest import RunManifest
from gristmill.contract.run import Policy
from gristmill.formats.open import open_reader, open_writer
from gristmill.runtime.budget import check_rejected
from gristmill.runtime.verdict import Evidence, Verdict
from gristmill.runtime.verify import verify_run
from gristmill.store.open import open_store


def finish(run: Run, policy: Policy) -> RunState:
    """Check every manifest, then say that the run is finished. Safe to do again.

    Raises TooManyRejectedError when the whole has more rejected records than allowed,
    BadInputError when there was no record at all, StorageError when a manifest is not sound.
    """
    state = read_state(run.store)
    if state.manifest is not None:
        return state
    refuse_gaps(run)
    counts = state.counts
    if counts.records == 0:
        raise BadInputError(f"{run.spec.blueprint.input.uri}: its objects hold no record")
    check_rejected(policy.errors, counts, finished=True)
    manifest = summed_up(run, state, policy.capacity.usd_per_hour)
    run.store.put_new(layout.MANIFEST, canonical_json(manifest))
    return read_state(run.store)


def refuse_gaps(run: Run) -> None:
    """Check every manifest. Raises StorageError when one is missing or not sound."""
    verdict = verify_run(
        _evidence(run),
        lambda: planned_shards(run.store, run.plan),
        data=False,
    )
    if verdict.gaps:
        first = verdict.gaps[0]
        raise StorageError(
            f"run {run.spec.run} is not complete though its workers have ended: "
            f"{len(verdict.gaps)} gaps, the first: {first.where}: {first.what}; go on with "
            f"`gristmill resume {run.store.uri}`, see all with `gristmill verify {run.store.uri}`"
        )


def summed_up(
    run: Run, state: RunState, usd_per_hour: float | None, generation: int = 0
) -> RunManifest:
    """What the manifests of all shards and attempts say together."""
    return RunManifest(
        spec=run.spec.identity(),
        run=run.spec.run,
        shards=run.plan.shards,
        counts=state.counts,
        engine_seconds=state.engine_seconds,
        attempts=len(state.attempts),
        worker_seconds=sum(attempt.seconds for attempt in state.attempts),
        usd=cost(state.attempts, usd_per_hour),
        generation=generation,
    )


def verify(
    run: Run, *, deep: bool = False, progress: Callable[[int], None] = lambda _: None
) -> Verdict:
    """The whole proof, data included; with `deep` the inputs too."""
    return verify_run(
        _evidence(run),
        lambda: planned_shards(run.store, run.plan),
        deep=deep,
        progress=progress,
    )


def _evidence(run: Run) -> Evidence:
    blueprint = run.spec.blueprint
    return Evidence(
        spec=run.spec,
        run=run.store,
        output=open_store(blueprint.output.uri),
        inputs=open_store(locate(blueprint.input.uri).root),
        reader=open_reader(blueprint.input, run.plan.carry),
        writer=open_writer(blueprint.output.format, (), run.plan.carried),
    )
