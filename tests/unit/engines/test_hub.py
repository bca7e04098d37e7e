from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from gristmill.contract.errors import ConfigError
from gristmill.contract.model import HubModel
from gristmill.engines.hub import fetch

MODEL = HubModel("owner/name", "0123456789abcdef0123456789abcdef01234567")


def test_the_pinned_commit_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def download(repo: str, **options: Any) -> str:
        asked.update(options, repo=repo)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert fetch(MODEL) == tmp_path
    assert (asked["repo"], asked["revision"]) == (MODEL.id, MODEL.commit)


def test_an_unreachable_hub_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(repo: str, **options: Any) -> str:
        raise huggingface_hub.errors.LocalEntryNotFoundError("offline")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(ConfigError, match=f"hf download {MODEL.id} --revision {MODEL.commit}"):
        fetch(MODEL)
