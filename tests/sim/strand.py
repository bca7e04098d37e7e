"""Strand: a blocking call that the world can hold between two of its requests.

The call runs in a thread, but only ever while the loop waits for it, so that the order of things
stays the world's. Its requests are carried out by the loop.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Request = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class _Answer:
    value: Any = None
    error: BaseException | None = None

    def take(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


class Strand:
    """`begin`, and then `go_on` with the answer of each request, until there is no request."""

    def __init__(self) -> None:
        self._loops_turn = threading.Lock()
        self._calls_turn = threading.Lock()
        self._loops_turn.acquire()
        self._calls_turn.acquire()
        self._call: Callable[[], Any] = _nothing
        self._request: Request | None = None
        self._answer = _Answer()
        self._ended = _Answer()
        threading.Thread(target=self._run, daemon=True).start()

    def begin(self, call: Callable[[], Any]) -> Request | None:
        self._call = call
        return self._switch()

    def go_on(self, value: Any = None, error: BaseException | None = None) -> Request | None:
        self._answer = _Answer(value, error)
        return self._switch()

    def result(self) -> Any:
        """What the call returned, or raises what it raised."""
        ended, self._ended = self._ended, _Answer()
        return ended.take()

    def _switch(self) -> Request | None:
        self._request = None
        self._calls_turn.release()
        self._loops_turn.acquire()
        return self._request

    def _run(self) -> None:
        _of_thread.strand = self
        while True:
            self._calls_turn.acquire()
            call, self._call = self._call, _nothing
            try:
                self._ended = _Answer(call())
            except BaseException as error:  # noqa: BLE001 - raised by `result`
                self._ended = _Answer(error=error)
            del call
            self._loops_turn.release()

    def ask(self, request: Request) -> Any:
        """From inside the call."""
        self._request = request
        self._loops_turn.release()
        self._calls_turn.acquire()
        return self._answer.take()


def _nothing() -> None:
    pass


_of_thread = threading.local()


def current() -> Strand | None:
    """The strand that this code runs in."""
    return getattr(_of_thread, "strand", None)


class Strands:
    """Threads to be used again: making one costs more than a call."""

    def __init__(self) -> None:
        self._idle: list[Strand] = []

    def take(self) -> Strand:
        return self._idle.pop() if self._idle else Strand()

    def forget(self) -> None:
        """After a fork, which threads do not survive."""
        self._idle.clear()

    def give_back(self, strand: Strand) -> None:
        self._idle.append(strand)
