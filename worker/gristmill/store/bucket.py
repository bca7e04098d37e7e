"""Bucket: objects under a prefix of a bucket (S3, Google Cloud, Azure, memory), through obstore."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import obstore
from obstore import exceptions

from gristmill.contract.errors import (
    ObjectChangedError,
    ObjectMissingError,
    PermissionRefusedError,
    StorageError,
)
from gristmill.store.key import checked, checked_prefix
from gristmill.store.protocol import ObjectInfo

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta
    from obstore.store import ObjectStore as Obstore

T = TypeVar("T")

_PIECE: Final = 8 * 2**20
_PIECES: Final = 9000
"""S3 takes 10,000 pieces an upload."""
_UPLOADS: Final = 4
"""Pieces in flight: with _PIECE they bound the memory of an upload."""
_TRIES: Final = 5
"""How often something is asked for whose answer breaks off while it is read."""
_REFUSED: Final = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)


class Bucket:
    """An ObjectStore: the objects of a bucket whose key starts with `prefix`.

    `probe` is the same bucket with little patience, where a head of the empty key asks for the
    bucket itself (S3); None where it doesn't.
    """

    def __init__(
        self, uri: str, bucket: "Obstore", prefix: str, probe: "Obstore | None" = None
    ) -> None:
        self._uri = uri
        self._bucket = bucket
        self._prefix = checked_prefix(prefix)
        self._probe = probe

    @property
    def uri(self) -> str:
        return self._uri

    def get(self, key: str) -> bytes:
        with self._asking("read", key):
            return self._repeated(
                lambda: bytes(obstore.get(self._bucket, self._whole(key)).bytes())
            )

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        if start >= stop:
            return b""
        options: GetOptions = {"range": (start, stop)}
        if etag is not None:
            options["if_match"] = etag

        def ask() -> bytes:
            try:
                return bytes(obstore.get(self._bucket, self._whole(key), options=options).bytes())
            except exceptions.GenericError:
                # A range that starts at the end or after it is refused like any other failure.
                if start < self.head(key).size:
                    raise
                return b""

        with self._asking("read", key):
            try:
                return self._repeated(ask)
            except exceptions.PreconditionError as error:
                raise ObjectChangedError(
                    f"{self._uri}/{key}: changed since the run was planned (etag {etag}); put the "
                    f"planned object back, or start a new run over the new one"
                ) from error

    def put(self, key: str, body: bytes) -> None:
        with self._asking("write", key):
            self._repeated(
                lambda: obstore.put(
                    self._bucket,
                    self._whole(key),
                    body,
                    chunk_size=_PIECE,
                    max_concurrency=_UPLOADS,
                )
            )

    def put_new(self, key: str, body: bytes) -> bool:
        with self._asking("write", key):
            try:
                self._repeated(
                    lambda: obstore.put(self._bucket, self._whole(key), body, mode="create")
                )
            except exceptions.AlreadyExistsError:
                return False
            return True

    def put_file(self, key: str, path: Path) -> None:
        try:
            source = path.open("rb")
            size = path.stat().st_size
        except OSError as error:
            raise StorageError(f"{path}: can't read it ({error.strerror})") from error
        piece = max(_PIECE, -(-size // _PIECES))
        with source, self._asking("write", key):
            obstore.put(
                self._bucket,
                self._whole(key),
                source,
                chunk_size=piece,
                max_concurrency=_UPLOADS,
            )

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        with self._asking("list", prefix):
            whole = self._prefix + checked_prefix(prefix)
            for found in self._listed(whole):
                # The marker of a folder made by a console comes without its slash.
                if found["path"].startswith(whole):
                    yield _info(found["path"].removeprefix(self._prefix), found)

    def _listed(self, whole: str) -> "Iterator[ObjectMeta]":
        """obstore repeats a request that fails, but not a page that breaks off halfway."""
        last, broken = None, 0
        while True:
            try:
                for page in obstore.list(self._bucket, whole or None, offset=last):
                    for found in page:
                        yield found
                        last, broken = found["path"], 0
            except exceptions.GenericError:
                broken += 1
                if broken == _TRIES or self._asked_itself() is not None:
                    raise
            else:
                return

    def _repeated(self, ask: Callable[[], T]) -> T:
        """obstore repeats a request that fails, but not one whose refusal (no such object, an
        object is there already) breaks off halfway."""
        for _ in range(1, _TRIES):
            try:
                return ask()
            except exceptions.GenericError:
                if self._asked_itself() is not None:
                    raise
        return ask()

    def head(self, key: str) -> ObjectInfo:
        with self._asking("read", key):
            return _info(key, obstore.head(self._bucket, self._whole(key)))

    def _whole(self, key: str) -> str:
        return self._prefix + checked(key)

    @contextmanager
    def _asking(self, verb: str, key: str) -> Iterator[None]:
        """What obstore raises -> what the protocol promises."""
        where = f"{self._uri}/{key}"
        try:
            yield
        except FileNotFoundError as error:
            raise self._missing(verb, where) from error
        except _REFUSED as error:
            raise _refused(verb, where, error) from error
        except (exceptions.InvalidPathError, ValueError) as error:
            raise StorageError(
                f"{where}: a key there can't be used ({_first(error)}); rename that object, or "
                f"choose a prefix without it"
            ) from error
        except (exceptions.BaseError, OSError) as error:
            raise self._failed(verb, where, error) from error

    def _missing(self, verb: str, where: str) -> ObjectMissingError:
        if verb != "read" or isinstance(self._asked_itself(), FileNotFoundError):
            return ObjectMissingError(
                f"{where}: there is no such bucket; create it, or correct the name or the endpoint"
            )
        return ObjectMissingError(f"{where}: there is no such object")

    def _failed(self, verb: str, where: str, error: Exception) -> StorageError:
        # A listing fails with one and the same type whatever the cause; the bucket tells more.
        about_bucket = self._asked_itself() if verb == "list" else None
        if isinstance(about_bucket, FileNotFoundError):
            return self._missing(verb, where)
        if isinstance(about_bucket, _REFUSED):
            return _refused(verb, where, error)
        return StorageError(
            f"{where}: can't {verb} ({_first(error)}); check the network, the endpoint and the "
            f"credentials in the environment, then run it again"
        )

    def _asked_itself(self) -> Exception | None:
        """What is wrong with the bucket itself, as far as it can be asked."""
        if self._probe is None:
            return None
        try:
            obstore.head(self._probe, "")
        except (FileNotFoundError, exceptions.BaseError) as error:
            return error
        return None


def _refused(verb: str, where: str, error: Exception) -> PermissionRefusedError:
    return PermissionRefusedError(
        f"{where}: permission to {verb} refused ({_first(error)}); give this identity that right, "
        f"or check which credentials the environment holds"
    )


def _info(key: str, found: "ObjectMeta") -> ObjectInfo:
    return ObjectInfo(key, found["size"], found["e_tag"] or "")


def _first(error: Exception) -> str:
    """The line meant for people; obstore appends a dump of its structures."""
    lines = str(error).splitlines()
    return lines[0].rstrip(": ") if lines else type(error).__name__
