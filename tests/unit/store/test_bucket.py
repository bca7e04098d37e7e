"""Answers that break off halfway, which obstore does not repeat in every case."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from gristmill.contract.errors import ObjectMissingError, StorageError
from gristmill.store.open import open_store
from gristmill.store.protocol import ObjectStore

KEYS = [f"p/{n}" for n in range(6)]
PAGE = 2
BODY = b"body" * 1000


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


@contextmanager
def breaking_off(
    monkeypatch: pytest.MonkeyPatch, breaks: Callable[[int], bool], refuses: int = 0
) -> Iterator[list[str]]:
    """An S3 whose nth answer (from 0) ends in the middle of its body where `breaks` says so.

    `refuses`: the status of all of them; 0: it serves.
    """
    asked: list[str] = []

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(BODY)

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            body = _page(parse_qs(url.query)) if "list-type" in url.query else BODY
            broken = breaks(len(asked))
            asked.append(self.path)
            self._answer(body, cut=broken)

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def _answer(self, whole: bytes, *, cut: bool = False) -> None:
            ranged = self.headers.get("Range")
            start = int(ranged[6:].split("-")[0]) if ranged else 0
            body = whole[start:]
            served = 206 if ranged else 200
            self.send_response(served if self.command == "HEAD" else refuses or served)
            self.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"e"')
            self.send_header("Last-Modified", "Sun, 06 Dec 2026 00:00:00 GMT")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()


def _page(query: dict[str, list[str]]) -> bytes:
    after = query.get("continuation-token", query.get("start-after", [""]))[0]
    left = [key for key in KEYS if key > after]
    page = left[:PAGE]
    more = len(left) > PAGE
    contents = "".join(
        f'<Contents><Key>{key}</Key><Size>1</Size><ETag>"e"</ETag>'
        f"<LastModified>2026-12-06T00:00:00.000Z</LastModified></Contents>"
        for key in page
    )
    token = f"<NextContinuationToken>{page[-1]}</NextContinuationToken>" if more else ""
    return (
        f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>'
        f"<IsTruncated>{str(more).lower()}</IsTruncated>{contents}{token}</ListBucketResult>"
    ).encode()


@pytest.mark.parametrize("nth", range(3))
def test_a_page_that_breaks_off_is_asked_for_again(
    nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with breaking_off(monkeypatch, lambda n: n == nth) as asked:
        assert [found.key for found in open_store("s3://b/p").list()] == list("012345")
    assert len(asked) > 3


def test_pages_that_break_off_each_time_end_in_a_storage_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        breaking_off(monkeypatch, lambda _: True) as asked,
        pytest.raises(StorageError, match="s3://b/p/: can't list"),
    ):
        list(open_store("s3://b/p").list())
    assert len(asked) == 5


@pytest.mark.parametrize("times", [1, 2, 4])
@pytest.mark.parametrize("ranged", [False, True])
def test_a_body_that_breaks_off_is_read_to_its_end(
    times: int, ranged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with breaking_off(monkeypatch, lambda n: n < times) as asked:
        store = open_store("s3://b/p")
        body = store.get_range("0", 0, len(BODY)) if ranged else store.get("0")
    assert body == BODY
    assert len(asked) > times


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(
    ("ask", "status"),
    [
        (lambda store: store.get("gone"), 404),
        (lambda store: store.get_range("gone", 0, 5), 404),
        (lambda store: store.put_new("there", b"x"), 412),
    ],
    ids=["get", "get_range", "put_new"],
)
def test_a_refusal_that_breaks_off_is_asked_for_again(
    ask: Callable[[ObjectStore], object],
    status: int,
    times: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with breaking_off(monkeypatch, lambda n: n < times, status) as asked:
        try:
            assert ask(open_store("s3://b/p")) is False
        except ObjectMissingError:
            assert status == 404
    assert len(asked) == times + 1


def test_a_refusal_that_breaks_off_each_time_ends_in_a_storage_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        breaking_off(monkeypatch, lambda _: True, 404) as asked,
        pytest.raises(StorageError, match="s3://b/p/0: can't read"),
    ):
        open_store("s3://b/p").get("0")
    assert len(asked) == 5
