"""What a bucket does beyond the contract: S3 itself, or a server that answers with trouble."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gristmill.contract.errors import ObjectMissingError, PermissionRefusedError, StorageError
from gristmill.store.open import open_store
from gristmill.store.protocol import ObjectStore

pytestmark = pytest.mark.emulator

CALLS: dict[str, Callable[[ObjectStore, Path], object]] = {
    "get": lambda store, _: store.get("a"),
    "get_range": lambda store, _: store.get_range("a", 0, 4, etag="e"),
    "put": lambda store, _: store.put("a", b"x"),
    "put_new": lambda store, _: store.put_new("a", b"x"),
    "put_file": lambda store, path: store.put_file("a", path),
    "list": lambda store, _: list(store.list("p/")),
    "head": lambda store, _: store.head("a"),
}


class Troubled(ThreadingHTTPServer):
    """Answers with the statuses on its list, the last of them for ever."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.statuses = [200]
        self.asked = 0


class _Answer(BaseHTTPRequestHandler):
    server: Troubled
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        statuses = self.server.statuses
        self.server.asked += 1
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Content-Length", "4")
        self.send_header("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT")
        self.send_header("ETag", '"e"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"body")

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def troubled(s3_environment: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Troubled]:
    server = Troubled()
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"body")
    return path


@pytest.mark.usefixtures("s3_environment")
@pytest.mark.parametrize("call", CALLS)
def test_a_missing_bucket_is_told_from_a_missing_object(call: str, file: Path) -> None:
    with pytest.raises(ObjectMissingError, match=r"s3://no-such/runs/.*: there is no such bucket"):
        CALLS[call](open_store("s3://no-such/runs"), file)


@pytest.mark.parametrize("call", ["get", "head", "get_range"])
def test_a_missing_object_of_a_bucket_is_named(s3_bucket: str, call: str, file: Path) -> None:
    with pytest.raises(ObjectMissingError, match=f"s3://{s3_bucket}/runs/a: there is no such obj"):
        CALLS[call](open_store(f"s3://{s3_bucket}/runs"), file)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("call", CALLS)
def test_a_refusal_names_the_object_and_is_a_matter_of_permission(
    troubled: Troubled, call: str, status: int, file: Path
) -> None:
    troubled.statuses = [status]
    with pytest.raises(PermissionRefusedError, match=r"s3://bucket/\w+/.*credentials"):
        CALLS[call](open_store("s3://bucket/runs"), file)


@pytest.mark.parametrize("call", CALLS)
def test_a_server_that_keeps_failing_is_a_storage_error(
    troubled: Troubled, call: str, file: Path
) -> None:
    troubled.statuses = [500]
    with pytest.raises(StorageError, match=r"s3://bucket/runs/.*can't .*run it again") as failed:
        CALLS[call](open_store("s3://bucket/runs", patience=0.1), file)
    assert type(failed.value) is StorageError


@pytest.mark.parametrize("call", ["get", "put", "put_new", "head"])
def test_a_throttled_request_is_repeated(troubled: Troubled, call: str, file: Path) -> None:
    troubled.statuses = [503, 503, 200]
    CALLS[call](open_store("s3://bucket/runs"), file)
    assert troubled.asked == 3


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("s3_environment")
def test_a_dead_endpoint_is_a_storage_error(
    call: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answer) as closed:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed.server_port}")
    with pytest.raises(StorageError, match="check the network, the endpoint") as failed:
        CALLS[call](open_store("s3://bucket/runs", patience=0.1), file)
    assert type(failed.value) is StorageError


def test_keys_lie_in_the_bucket_as_they_are_spelled(s3_bucket: str, s3_client: Any) -> None:
    open_store(f"s3://{s3_bucket}/my runs/é#1+%2F").put("a b/c?.json", b"x")
    listing = s3_client.list_objects_v2(Bucket=s3_bucket)
    assert [found["Key"] for found in listing["Contents"]] == ["my runs/é#1+%2F/a b/c?.json"]


def test_a_listing_goes_on_over_pages_in_order(
    s3_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "3")
    store = open_store(f"s3://{s3_bucket}/p")
    keys = [f"{number:02d}" for number in range(8)]
    for key in reversed(keys):
        store.put(key, b"x")
    assert [found.key for found in store.list()] == keys


def test_the_marker_of_the_listed_folder_is_no_object(s3_bucket: str, s3_client: Any) -> None:
    for key in ("p/", "p/in/", "p/in/a", "p/in/b/"):
        s3_client.put_object(Bucket=s3_bucket, Key=key, Body=b"")
    assert [f.key for f in open_store(f"s3://{s3_bucket}/p").list("in/")] == ["in/a", "in/b"]


@pytest.mark.parametrize("key", ["p//a", "p/tab\ta", "p/../a"])
def test_a_key_that_can_not_be_used_is_refused_not_left_out(
    s3_bucket: str, s3_client: Any, key: str
) -> None:
    s3_client.put_object(Bucket=s3_bucket, Key=key, Body=b"x")
    with pytest.raises(StorageError, match=r"a key there can't be used.*rename that object"):
        list(open_store(f"s3://{s3_bucket}").list())


def test_a_control_character_in_a_key_is_refused(s3_bucket: str) -> None:
    with pytest.raises(StorageError, match="can't be used"):
        open_store(f"s3://{s3_bucket}").put("a\nb", b"x")


def test_a_source_that_is_not_there_is_named(s3_bucket: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="absent: can't read it"):
        open_store(f"s3://{s3_bucket}").put_file("a", tmp_path / "absent")


def test_a_large_file_goes_up_in_pieces(s3_bucket: str, s3_client: Any, tmp_path: Path) -> None:
    size = 20 * 2**20
    (tmp_path / "large").write_bytes(b"z" * size)
    open_store(f"s3://{s3_bucket}").put_file("large", tmp_path / "large")
    found = s3_client.head_object(Bucket=s3_bucket, Key="large")
    assert found["ContentLength"] == size
    assert found["ETag"].endswith('-3"')
