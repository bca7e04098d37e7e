"""The calls of one SQS queue, through boto3; its answers and refusals in our words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from typing import Any, Final
from urllib.parse import urlsplit

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)

from gristmill.contract.errors import ConfigError, PermissionRefusedError, StorageError
from gristmill.queue.sqs_refusals import HANDLE_LOST, TRIES, refusal

BATCH: Final = 10
"""Messages that SQS takes in one call."""
CALLS_AT_ONCE: Final = 8

_CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": TRIES},
    connect_timeout=5,
    read_timeout=15,  # above the longest poll
    max_pool_connections=CALLS_AT_ONCE,
)
_REGION: Final = re.compile(
    r"(?:^|\.)sqs(?:-fips)?\.([a-z]{2}[a-z0-9-]+-\d)\.|^([a-z]{2}[a-z0-9-]+-\d)\.queue\."
)
_NO_CREDENTIALS: Final = (
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)


class HandleLostError(Exception):
    """A receipt handle stands for no message in flight any more."""


@dataclass(frozen=True, slots=True)
class Message:
    handle: str
    """Names this delivery."""
    body: str
    receives: int


@dataclass(frozen=True, slots=True)
class Unsent:
    """A message of a batch that SQS did not take."""

    body: str
    code: str
    ours: bool
    """SQS blames the sender: to send it again is of no use."""


class SqsCalls:
    """One queue. `client` is botocore's, made by `connect`; any thread may call."""

    def __init__(self, client: Any, url: str) -> None:
        self._client = client
        self.url = url

    def attributes(self, *names: str) -> Mapping[str, str]:
        """Those that the queue has."""
        with self._asking("look at"):
            found = self._client.get_queue_attributes(QueueUrl=self.url, AttributeNames=list(names))
        attributes: dict[str, str] = found.get("Attributes", {})
        return attributes

    def receive(self, hidden_seconds: int, wait_seconds: int) -> Message | None:
        with self._asking("take tickets from"):
            found = self._client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=1,
                VisibilityTimeout=hidden_seconds,
                WaitTimeSeconds=wait_seconds,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
        for message in found.get("Messages", []):
            receives = int(message["Attributes"]["ApproximateReceiveCount"])
            return Message(message["ReceiptHandle"], message["Body"], receives)
        return None

    def send(self, body: str, delay_seconds: int = 0) -> None:
        with self._asking("send tickets to"):
            self._client.send_message(
                QueueUrl=self.url, MessageBody=body, DelaySeconds=delay_seconds
            )

    def send_batch(self, bodies: Sequence[str]) -> list[Unsent]:
        """At most BATCH. What was not taken; the rest is in the queue."""
        entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(bodies)]
        with self._asking("send tickets to"):
            answer = self._client.send_message_batch(QueueUrl=self.url, Entries=entries)
        return [
            Unsent(bodies[int(entry["Id"])], entry["Code"], bool(entry["SenderFault"]))
            for entry in answer.get("Failed", [])
        ]

    def hide(self, handle: str, seconds: int) -> None:
        """Nobody else receives it for so long from now. Raises HandleLostError."""
        with self._asking("hold a ticket of", handle=True):
            self._client.change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=handle, VisibilityTimeout=seconds
            )

    def delete(self, handle: str) -> None:
        """Raises HandleLostError."""
        with self._asking("remove a ticket from", handle=True):
            self._client.delete_message(QueueUrl=self.url, ReceiptHandle=handle)

    @contextmanager
    def _asking(self, what: str, *, handle: bool = False) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if handle and code in HANDLE_LOST:
                raise HandleLostError(code) from error
            raise refusal(self.url, what, code) from error
        except _NO_CREDENTIALS as error:
            raise PermissionRefusedError(
                f"{self.url}: no AWS credentials to {what} the work queue "
                f"({type(error).__name__}); give this process a role, or set AWS_ACCESS_KEY_ID "
                "and AWS_SECRET_ACCESS_KEY"
            ) from error
        except BotoCoreError as error:
            raise StorageError(
                f"{self.url}: can't {what} the work queue after {TRIES} tries "
                f"({type(error).__name__}); check the network, the region and AWS_ENDPOINT_URL, "
                "then run it again"
            ) from error


def connect(url: str) -> Any:
    """botocore's client for the region of a queue; its endpoint is AWS_ENDPOINT_URL's, if set.

    Raises ConfigError.
    """
    try:
        return Session().client("sqs", region_name=region_of(url, environ), config=_CONFIG)
    except (BotoCoreError, ValueError) as error:
        raise ConfigError(
            f"sqs:{url}: no client can be made for it ({error}); check the URL and the AWS_ "
            "variables of the environment"
        ) from error


def region_of(url: str, env: Mapping[str, str]) -> str:
    """Where a queue is: its URL says so, or else the environment.

    Raises ConfigError for what is no URL of a queue that can be used.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or len(parts.path.strip("/").split("/")) < 2:
        raise ConfigError(
            f"sqs:{url}: is no URL of a queue; write "
            "sqs:https://sqs.<region>.amazonaws.com/<account>/<name>"
        )
    if url.endswith(".fifo"):
        raise ConfigError(
            f"sqs:{url}: is a FIFO queue, which holds later tickets back behind earlier ones; "
            "make a standard queue"
        )
    found = _REGION.search(parts.hostname or "")
    region = found[1] or found[2] if found else None
    region = region or env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION")
    if not region:
        raise ConfigError(f"sqs:{url}: its region is not known; set AWS_REGION")
    return region
