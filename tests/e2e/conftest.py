"""The command line as a person calls it, in this process: as `python -m gristmill` without the
seconds that importing takes. Its workers are real processes."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gristmill.cli.main import main

SELFTEST = Path(__file__).parents[2] / "blueprints" / "selftest" / "blueprint.yaml"


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its one JSON object: anything else on stdout fails the test."""
        return json.loads(self.out)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Desk:
    """A working folder: inputs in `in/`, results in `out/`, runs in `runs/`."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def put(self, name: str, body: bytes | str | Iterable[str]) -> Path:
        """An input file: its body, or texts as JSON lines."""
        path = self.folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(body, str):
            body = body.encode()
        elif not isinstance(body, bytes):
            body = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in body)
        path.write_bytes(body)
        return path

    def call(self, *args: str) -> Said:
        """`gristmill ARGS`; no command may ever show a traceback."""
        self.patch.setattr(sys, "argv", ["gristmill", *args])
        self.capture.readouterr()
        code: object = None
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        out, err = self.capture.readouterr()
        said = Said(code if isinstance(code, int) else 0 if code is None else 1, out, err)
        assert "Traceback" not in out + err
        return said

    def run(
        self, *args: str, run: str = "r", source: str = "in", output: str = "out", **sets: object
    ) -> Said:
        """`gristmill run selftest`; `part__records=5` becomes `--set part.records=5`."""
        options = [
            text
            for key, value in sets.items()
            for text in ("--set", f"{key.replace('__', '.')}={value}")
        ]
        return self.call(
            "run", str(SELFTEST), "--input", source, "--output", output, "--run-id", run,
            *options, *args,
        )  # fmt: skip

    def results(self) -> list[dict[str, Any]]:
        """Every result, in order."""
        files = sorted((self.folder / "out").glob("results-*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    def texts(self) -> list[str]:
        return [result["text"] for result in self.results()]

    def rejected(self) -> list[dict[str, Any]]:
        return self.call("results", "r", "--rejected", "--head", "100").lines()

    def sound(self, run: str = "r") -> dict[str, Any]:
        """The proof that nothing is lost, inputs read again."""
        said = self.call("verify", run, "--deep", "--json")
        assert said.code == 0, said.out
        proof: dict[str, Any] = said.json
        assert proof["sound"]
        return proof


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRISTMILL_RUNS", raising=False)
    return Desk(tmp_path, capsys, monkeypatch)
