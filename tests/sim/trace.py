"""What happened in a world, in order."""

from typing import Any

from tests.sim.virtual import Time


class Trace:
    def __init__(self, time: Time) -> None:
        self._time = time
        self.lines: list[str] = []

    def note(self, who: str, what: str, **fields: Any) -> None:
        said = " ".join(f"{name}={value}" for name, value in fields.items())
        self.lines.append(f"{self._time.at:9.3f}  {who:5}  {what} {said}".rstrip())
