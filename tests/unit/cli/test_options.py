from pathlib import Path

import pytest

from gristmill.cli.options import here


def test_a_path_starts_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert here("in/a b.jsonl") == f"{tmp_path}/in/a b.jsonl"
    assert here("in/") == f"{tmp_path}/in/"
    assert here("/elsewhere/*.jsonl") == "/elsewhere/*.jsonl"
    assert here("s3://bucket/in") == "s3://bucket/in"
