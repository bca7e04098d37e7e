"""The instance metadata of an EC2 machine, by its second protocol (a token first)."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

import anyio

from gristmill.runtime.host import Host

SPOT_ACTION: Final = "/latest/meta-data/spot/instance-action"
REBALANCE: Final = "/latest/meta-data/events/recommendations/rebalance"

_ENDPOINT: Final = "http://169.254.169.254"
_SESSION: Final = "/latest/api/token"
_SESSION_SECONDS: Final = 21_600
"""The longest that EC2 gives."""
_PATIENCE: Final = 1.0
"""Seconds. It is on the machine itself and answers in milliseconds."""
_LONGEST: Final = 2**16
_NO_ANSWER: Final = (OSError, HTTPException)


async def reach(endpoint: str | None, host: Host) -> "InstanceMetadata | None":
    """The metadata, if a token is to be had now; None where there is none."""
    try:
        parts = urlsplit(endpoint or _ENDPOINT)
        name, port = parts.hostname, parts.port or 80
    except ValueError:
        return None
    if parts.scheme != "http" or name is None:
        return None
    # Outside EC2 nobody answers. Unlike a thread, this try can be cancelled, so that a worker
    # that ends sooner is not kept.
    try:
        with anyio.fail_after(_PATIENCE):
            await (await anyio.connect_tcp(name, port)).aclose()
    except (OSError, TimeoutError):
        return None
    metadata = InstanceMetadata(name, port, parts.path.rstrip("/"))
    return metadata if await host.offload(metadata.renew) else None


class InstanceMetadata:
    """Every method blocks, for about a second at most. No proxy is asked, no redirect followed."""

    def __init__(self, name: str, port: int, path: str) -> None:
        self._name = name
        self._port = port
        self._path = path
        self._token = ""

    def renew(self) -> bool:
        """Get a new token; whether there was one."""
        wanted = {"X-aws-ec2-metadata-token-ttl-seconds": str(_SESSION_SECONDS)}
        status, body = self._send("PUT", _SESSION, wanted)
        self._token = body.decode("latin-1").strip() if status == HTTPStatus.OK else ""
        return bool(self._token)

    def ask(self, path: str) -> Mapping[str, Any] | None:
        """The object there; None when there is none, no answer, or an answer that is no object."""
        status, body = self._get(path)
        if status == HTTPStatus.UNAUTHORIZED and self.renew():  # the token was too old
            status, body = self._get(path)
        if status != HTTPStatus.OK:
            return None
        try:
            found = json.loads(body)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def _get(self, path: str) -> tuple[int, bytes]:
        return self._send("GET", path, {"X-aws-ec2-metadata-token": self._token})

    def _send(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """(status, body); status 0: no answer."""
        connection = HTTPConnection(self._name, self._port, timeout=_PATIENCE)
        try:
            connection.request(method, self._path + path, headers=dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read(_LONGEST)
        except (*_NO_ANSWER, ValueError):  # ValueError: a token that no header can hold
            return 0, b""
        finally:
            connection.close()
