"""Tickets that a queue gave up -> records in the run, so that no shard is silently gone."""

from collections.abc import Callable

from gristmill.client.plan import Run
from gristmill.client.state import read_state
from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json
from gristmill.contract.manifest import ShardFailure
from gristmill.queue.protocol import WorkQueue


def record_failures(run: Run, queue: WorkQueue, now: Callable[[], float]) -> list[ShardFailure]:
    """Publish each, then take it out of the queue. One that this dies over is told again."""
    failures = []
    finished = read_state(run.store).shards
    while (lease := queue.given_up()) is not None:
        if lease.ticket.shard in finished:  # its worker died between publishing and saying so
            queue.complete(lease)
            continue
        failure = ShardFailure(
            spec=run.spec.identity(),
            shard=lease.ticket.shard,
            part=lease.ticket.part,
            receives=lease.receives - 1,
            at=now(),
        )
        run.store.put(layout.failure(failure.shard, failure.part), canonical_json(failure))
        queue.complete(lease)
        failures.append(failure)
    return failures
