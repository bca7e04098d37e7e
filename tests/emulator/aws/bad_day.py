"""S3 and SQS on a bad day: a proxy that throttles, hangs up and loses answers by chance."""

import http.client
import random
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}
BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER without waiting: closing sends a reset."""


@dataclass(frozen=True)
class Odds:
    """How likely each trouble is, for each request."""

    busy: float = 0.02
    """503, as S3 answers who asks too fast."""
    reset: float = 0.01
    """The connection ends before the request is served."""
    unanswered: float = 0.01
    """The request is served, and the connection ends before the answer."""
    cut: float = 0.01
    """The connection ends halfway through the answer's body."""


@dataclass
class BadDay:
    url: str
    befell: Counter[str] = field(default_factory=Counter)


@contextmanager
def bad_day(upstream: str, odds: Odds, seed: int) -> Iterator[BadDay]:
    where = urlsplit(upstream).netloc
    chance, lock = random.Random(seed), Lock()

    def drawn() -> str:
        with lock:
            roll = chance.random()
            for trouble in ("busy", "reset", "unanswered", "cut"):
                roll -= getattr(odds, trouble)
                if roll < 0:
                    day.befell[trouble] += 1
                    return trouble
            return ""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            trouble = drawn()
            if trouble == "busy":
                self._answer(503, {"Content-Length": str(len(BUSY))}, BUSY)
            elif trouble == "reset":
                self._hang_up()
            else:
                status, headers, answer = self._forward(body)
                if trouble == "unanswered":
                    self._hang_up()
                elif trouble == "cut" and len(answer) > 1:
                    self._answer(status, headers, answer[: len(answer) // 2])
                    self._hang_up()
                else:
                    self._answer(status, headers, answer)

        def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            connection = http.client.HTTPConnection(where, timeout=60)
            try:
                connection.putrequest(
                    self.command, self.path, skip_host=True, skip_accept_encoding=True
                )
                for name, value in self.headers.items():
                    if name.lower() not in HOP_BY_HOP:
                        connection.putheader(name, value)
                connection.endheaders(body)
                answer = connection.getresponse()
                read = answer.read()
                headers = {k: v for k, v in answer.getheaders() if k.lower() not in HOP_BY_HOP}
                if self.command != "HEAD":
                    headers["Content-Length"] = str(len(read))
                return answer.status, headers, read
            finally:
                connection.close()

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _hang_up(self) -> None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.close_connection = True

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Entrance(ThreadingHTTPServer):
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """The other side was killed halfway through a request, which is what it is for."""

    with Entrance(("127.0.0.1", 0), Door) as server:
        day = BadDay(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield day
        finally:
            server.shutdown()
