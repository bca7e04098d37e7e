"""Ec2Machine: instance metadata over HTTP, as a machine on EC2 has it. Second protocol only."""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from gristmill.runtime.ec2_metadata import REBALANCE, SPOT_ACTION

Answer = tuple[int, bytes]
NONE: Answer = (404, b"")


def found(**fields: Any) -> Answer:
    return 200, json.dumps(fields).encode()


class Ec2Machine:
    """Each path gives its answers in turn, and the last one for good."""

    def __init__(self) -> None:
        self.answers = {SPOT_ACTION: deque([NONE]), REBALANCE: deque([NONE])}
        self.token_status = 200
        self.asked: list[str] = []
        """Paths, in order, of what was asked with a good token."""
        self.refused = 0
        self.endpoint = ""
        self._tokens = 0

    def will_say(self, path: str, *answers: Answer) -> None:
        self.answers[path] = deque(answers)

    def expire_token(self) -> None:
        self._tokens += 1

    def new_token(self, lifetime: str | None) -> Answer:
        if lifetime is None or not 1 <= int(lifetime) <= 21_600:
            return 400, b""
        self._tokens += 1
        return self.token_status, self._token.encode()

    def answer(self, path: str, token: str | None) -> Answer:
        if token != self._token:
            self.refused += 1
            return 401, b""
        self.asked.append(path)
        answers = self.answers[path]
        return answers.popleft() if len(answers) > 1 else answers[0]

    @property
    def _token(self) -> str:
        return f"token-{self._tokens}"


@contextmanager
def ec2_machine() -> Iterator[Ec2Machine]:
    machine = Ec2Machine()

    class Requests(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            lifetime = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
            self._reply(*machine.new_token(lifetime))

        def do_GET(self) -> None:
            token = self.headers.get("X-aws-ec2-metadata-token")
            self._reply(*machine.answer(self.path, token))

        def log_message(self, *_: object) -> None:
            pass

        def _reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Requests) as server:
        machine.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield machine
        finally:
            server.shutdown()
            thread.join()
