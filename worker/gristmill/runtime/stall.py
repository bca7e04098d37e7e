"""An engine that hangs: noticed, and told with the place where every thread is."""

import sys
import threading
import traceback
from collections.abc import Callable

from gristmill.contract.errors import EngineDeadError
from gristmill.runtime.infer import Pulse
from gristmill.runtime.telemetry import Emit

STALL_SECONDS = 900.0
"""An engine that finishes no batch for so long is taken for hung."""
LOOKS_PER_STALL = 10


async def watch_engine(
    pulse: Pulse, limit: float, emit: Emit, on_stall: Callable[[], None]
) -> None:
    """Raises EngineDeadError when batches are in the engine and none comes out for `limit`
    seconds; `on_stall` is called before."""
    while True:
        await pulse.clock.sleep(limit / LOOKS_PER_STALL)
        still = pulse.clock.monotonic() - pulse.moved_at
        if pulse.in_flight and still >= limit:
            message = (
                f"the engine did not finish a batch for {still:.0f} s; it is taken for hung, and "
                "everything finished is kept"
            )
            emit("stalled", message=message, stacks=thread_stacks())
            on_stall()
            raise EngineDeadError(message)


def thread_stacks() -> dict[str, list[str]]:
    """Thread -> frames, the innermost last. Places in code only, never values."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        f"{names.get(ident, '?')} {ident}": [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_stack(current)
        ]
        for ident, current in sys._current_frames().items()
    }
