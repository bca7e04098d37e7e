"""Lets a worker process say when its engine begins and ends a batch, for the test that kills it.

On the path of the processes under test alone; the product knows nothing of it.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any


def _write_journal(place: str) -> None:
    from gristmill.engines.echo import Echo

    journal = os.open(place, os.O_WRONLY)
    infer = Echo.infer

    async def told(self: Echo, prepared: Any, members: Sequence[int]) -> Any:
        os.write(journal, f"{os.getpid()} begin {len(members)}\n".encode())
        outcomes = await infer(self, prepared, members)
        os.write(journal, f"{os.getpid()} end {len(members)}\n".encode())
        return outcomes

    Echo.infer = told  # type: ignore[method-assign]


if "gristmill.runtime.process" in sys.orig_argv and "CHAOS_JOURNAL" in os.environ:
    _write_journal(os.environ["CHAOS_JOURNAL"])
