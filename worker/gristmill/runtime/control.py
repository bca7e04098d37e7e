"""What the people of a run want of it: a small object that workers look at now and then."""

from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json, decode
from gristmill.contract.errors import ObjectMissingError
from gristmill.contract.manifest import Control
from gristmill.store.protocol import ObjectStore


def cancelled(run: ObjectStore) -> bool:
    """Whether the run was cancelled and not resumed since. Blocks."""
    try:
        body = run.get(layout.CONTROL)
    except ObjectMissingError:
        return False
    return decode(Control, body, f"{run.uri}/{layout.CONTROL}").wanted == "cancel"


def unwanted(run: ObjectStore) -> bool:
    """Whether there is nothing left to do here, whatever the queue says: the run was cancelled, or
    is finished while tickets of another run keep the queue from being empty. Blocks."""
    return cancelled(run) or _is_there(run, layout.MANIFEST)


def _is_there(run: ObjectStore, key: str) -> bool:
    try:
        run.head(key)
    except ObjectMissingError:
        return False
    return True


def want(run: ObjectStore, control: Control) -> None:
    """Say what is wanted from now on. Blocks."""
    run.put(layout.CONTROL, canonical_json(control))
