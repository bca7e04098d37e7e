"""A URI -> the store of what lies under it."""

import os
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from gristmill.contract.errors import ConfigError
from gristmill.store.local import LocalDisk
from gristmill.store.protocol import ObjectStore

if TYPE_CHECKING:
    from gristmill.store.bucket import Bucket

PATIENCE: Final = 15.0
"""Seconds over which a failing request to a bucket is repeated."""
SCHEMES: Final = ("s3", "gs", "az", "file", "memory")

_HTTP: Final = {"s3": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"), "az": ("AZURE_ENDPOINT",)}
"""Variables whose `http://` allows unencrypted requests."""
_WHOSE: Final = {
    **_HTTP,
    "az": (
        *_HTTP["az"],
        "AZURE_STORAGE_ENDPOINT",
        "AZURE_STORAGE_ACCOUNT_NAME",
        "AZURE_STORAGE_USE_EMULATOR",
    ),
}
"""Variables that say whose bucket of that name is meant."""


def open_store(uri: str, *, patience: float = PATIENCE) -> ObjectStore:
    """A local path, `file://`, `s3://bucket/prefix`, `gs://bucket/prefix`,
    `az://container/prefix`, or `memory://name`, which lives as long as the process.

    Nothing is asked of the storage yet: what is missing or refused shows at the first request.
    Buckets take region, endpoint and credentials from the environment (see
    docs/decisions/0003-storage.md). Raises ConfigError for a URI that names no storage.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return LocalDisk(Path(os.path.abspath(uri)))  # noqa: PTH100 - resolve() follows links
    if scheme == "file":
        return LocalDisk(_file_path(uri))
    if scheme not in SCHEMES:
        raise ConfigError(
            f"{uri}: storage of kind {scheme}:// is not known; use a local path or one of "
            f"{', '.join(f'{known}://' for known in SCHEMES)}"
        )
    name, _, prefix = rest.partition("/")
    if not name:
        raise ConfigError(f"{uri}: the bucket's name is missing; write {scheme}://bucket/prefix")
    return _bucket(scheme, name, prefix.strip("/"), patience)


def whose(uri: str) -> str:
    """The URI with what else of the environment decides which storage it means: two of them may
    have a bucket of one name."""
    scheme = uri.partition("://")[0]
    return "\n".join([uri, *(os.environ.get(name, "") for name in _WHOSE.get(scheme, ()))])


def _file_path(uri: str) -> Path:
    parts = urlsplit(uri)
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise ConfigError(f"{uri}: write file:///absolute/path, or the path alone")
    return Path(unquote(uri.removeprefix("file://").removeprefix("localhost")))


def _bucket(scheme: str, name: str, prefix: str, patience: float) -> "Bucket":
    from obstore import exceptions

    from gristmill.store.bucket import Bucket

    uri = f"{scheme}://{name}/{prefix}".rstrip("/")
    try:
        bucket = _memory(name) if scheme == "memory" else _remote(scheme, name, patience)
        probe = _remote(scheme, name, min(patience, 1.0)) if scheme == "s3" else None
    except (exceptions.BaseError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigError(f"{uri}: can't be opened ({first})") from error
    return Bucket(uri, bucket, prefix and f"{prefix}/", probe)


@cache
def _memory(_name: str) -> Any:
    """One for each name, so that a second opener sees what the first wrote."""
    from obstore.store import MemoryStore

    return MemoryStore()


def _remote(scheme: str, name: str, patience: float) -> Any:
    from obstore.store import AzureStore, GCSStore, S3Store

    kinds = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}
    kind: Any = kinds[scheme]
    return kind(
        name,
        client_options={
            "allow_http": any(
                os.environ.get(variable, "").startswith("http://")
                for variable in _HTTP.get(scheme, ())
            ),
            "connect_timeout": timedelta(seconds=5),
            "read_timeout": timedelta(seconds=30),
            "timeout": timedelta(minutes=10),
        },
        retry_config={
            "max_retries": 100,  # the patience ends first
            "retry_timeout": timedelta(seconds=patience),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=3),
                "base": 2,
            },
        },
    )
