"""A run over files of one folder, planned and worked on by the client itself."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gristmill.client.local import View, go
from gristmill.client.plan import Run, open_run
from gristmill.client.report import Report
from gristmill.contract.load import load_blueprint
from gristmill.contract.run import Policy
from gristmill.runtime.host import WallClock
from tests.doubles.silent_view import SilentView

SELFTEST = Path(__file__).parents[2] / "blueprints" / "selftest"


@dataclass(frozen=True)
class FolderRun:
    """`in/` is read, `out/` written, `runs/` holds the run `r`, unless told otherwise."""

    folder: Path

    def put(self, name: str, body: bytes | Iterable[str]) -> Path:
        """An input file: bytes, or texts as JSON lines."""
        path = self.folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(body, bytes):
            body = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in body)
        path.write_bytes(body)
        return path

    def open(
        self,
        *overrides: str,
        run: str | None = "r",
        limit: int | None = None,
        source: str = "in/",
        output: str = "out",
    ) -> Run:
        places = {
            "input.uri": f"{self.folder}/{source}",
            "output.uri": f"{self.folder}/{output}",
        }
        blueprint = load_blueprint(SELFTEST, overrides, places)
        return open_run(blueprint, str(self.folder / "runs"), run, limit)

    def go(self, *overrides: str, workers: int = 1) -> Report:
        return self.work(self.open(*overrides), workers)

    def work(
        self,
        run: Run,
        workers: int = 1,
        policy: Policy | None = None,
        view: View | None = None,
    ) -> Report:
        policy = policy or Policy.of(run.spec.blueprint)
        return go(run, policy, workers, WallClock(), view or SilentView())

    def results(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((self.folder / "out").iterdir())}

    def texts(self) -> list[str]:
        """What the results hold, in order."""
        return [
            json.loads(line)["text"]
            for body in self.results().values()
            for line in body.splitlines()
        ]
