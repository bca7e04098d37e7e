import subprocess
import sys
from pathlib import Path

import pytest

from gristmill.contract.errors import ConfigError
from gristmill.store.bucket import Bucket
from gristmill.store.local import LocalDisk
from gristmill.store.open import PATIENCE, open_store


@pytest.fixture(autouse=True)
def _no_clouds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_STORAGE_ACCOUNT_NAME", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)


def test_a_path_is_a_folder_on_the_disk(tmp_path: Path) -> None:
    store = open_store(f"{tmp_path}/a b/../c%20d/")
    assert isinstance(store, LocalDisk)
    assert store.uri == f"{tmp_path}/c%20d"
    assert not Path(store.uri).exists()


def test_a_relative_path_starts_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_store("runs").uri == f"{tmp_path}/runs"


@pytest.mark.parametrize("host", ["", "localhost"])
def test_a_file_uri_is_unescaped(host: str) -> None:
    assert open_store(f"file://{host}/data/a%20b%23/").uri == "/data/a b#"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket/a b/é#%2F/", "s3://bucket/a b/é#%2F"),
        ("gs://bucket/prefix", "gs://bucket/prefix"),
    ],
)
def test_a_bucket_is_opened_without_asking_it(uri: str, expected: str) -> None:
    store = open_store(uri)
    assert isinstance(store, Bucket)
    assert store.uri == expected


def test_azure_takes_its_account_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"az://container/p: .*Account must be specified"):
        open_store("az://container/p")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    assert open_store("az://container/p").uri == "az://container/p"


def test_memory_is_shared_by_name() -> None:
    open_store("memory://shared/a").put("b/c", b"x")
    assert open_store("memory://shared").get("a/b/c") == b"x"
    assert [found.key for found in open_store("memory://shared/a/b").list()] == ["c"]
    assert list(open_store("memory://other").list()) == []


@pytest.mark.parametrize("uri", ["ftp://host/a", "S3://bucket/a", "https://host/a"])
def test_another_scheme_is_refused_with_those_allowed(uri: str) -> None:
    with pytest.raises(ConfigError, match="s3://, gs://, az://, file://, memory://"):
        open_store(uri)


@pytest.mark.parametrize("uri", ["s3://", "s3:///prefix", "gs://", "memory://"])
def test_a_bucket_without_a_name_is_refused(uri: str) -> None:
    with pytest.raises(ConfigError, match="bucket's name is missing"):
        open_store(uri)


@pytest.mark.parametrize("uri", ["file://host/a", "file://", "file://localhost"])
def test_a_file_uri_of_another_host_is_refused(uri: str) -> None:
    with pytest.raises(ConfigError, match="file:///absolute/path"):
        open_store(uri)


def test_a_dead_endpoint_is_given_up_within_twenty_seconds() -> None:
    # The backoff's last pause can begin just before the patience ends.
    assert PATIENCE + 3 < 20


def test_the_disk_needs_no_cloud_library() -> None:
    code = (
        "import sys; from gristmill.store.open import open_store; open_store('x').uri; "
        "sys.exit('obstore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
