"""The one shipped blueprint whose model a person brings: run with a tiny one made here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.models import save_classifier

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_score_pairs_scores_its_sample_with_a_model_that_the_person_names(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "model", ["relevance"])
    command = [sys.executable, "-m", "gristmill", "run", str(ROOT / "blueprints" / "score-pairs")]
    command += ["--set", f"task.engine.model={model}", "--output", str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] == 4
    results = (tmp_path / "out" / "results-000000.jsonl").read_text().splitlines()
    scores = {line["id"]: line["score"] for line in map(json.loads, results)}
    assert list(scores) == ["1", "2", "3", "4"]
    assert all(0 <= score <= 1 for score in scores.values())
