"""Where every thread of this process is: for the log, when an engine hangs."""

import sys
import threading
import traceback


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
