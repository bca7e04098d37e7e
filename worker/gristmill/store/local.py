"""LocalDisk: objects as files under one folder.

A file appears under its key whole or not at all: it is written and synced under a name that no
listing shows, then renamed (put) or linked (put_new). What a call has written outlives a power
cut once the call returns, as far as the disk keeps its word.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from gristmill.contract.errors import (
    ObjectChangedError,
    ObjectMissingError,
    PermissionRefusedError,
    StorageError,
)
from gristmill.store.key import checked, checked_prefix
from gristmill.store.protocol import ObjectInfo

STAGED: Final = ".gristmill-staged-"
"""How the name of a file in the making starts. One stays behind when its writer is killed."""

_BLOCK: Final = 2**20
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_REFUSED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


class LocalDisk:
    """An ObjectStore. Its folder is made by the first write."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def uri(self) -> str:
        return str(self._root)

    def get(self, key: str) -> bytes:
        path = self._path(key)
        with _reading(path):
            return path.read_bytes()

    def get_range(self, key: str, start: int, stop: int, *, etag: str | None = None) -> bytes:
        path = self._path(key)
        with _reading(path), path.open("rb") as file:
            file.seek(start)
            body = file.read(max(0, stop - start))
            # After reading, so that a change in between is seen too.
            found = _etag(os.fstat(file.fileno()))
        if etag is not None and found != etag:
            raise ObjectChangedError(
                f"{path}: changed since the run was planned (etag {etag}, now {found}); put the "
                f"planned file back, or start a new run over the new one"
            )
        return body

    def put(self, key: str, body: bytes) -> None:
        self._replace(self._path(key), lambda file: file.write(body))

    def put_new(self, key: str, body: bytes) -> bool:
        path = self._path(key)
        with _writing(path):
            staged = _stage(path.parent, lambda file: file.write(body))
            try:
                created = _link(staged, path)
            finally:
                staged.unlink()
            _sync(path.parent)
        return created

    def put_file(self, key: str, path: Path) -> None:
        with _reading(path):
            source = path.open("rb")
        with source:
            self._replace(self._path(key), lambda file: shutil.copyfileobj(source, file, _BLOCK))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        yield from _walk(str(self._root / checked_prefix(prefix)), prefix, ())

    def head(self, key: str) -> ObjectInfo:
        path = self._path(key)
        with _reading(path):
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return ObjectInfo(key, found.st_size, _etag(found))

    def _path(self, key: str) -> Path:
        return self._root / checked(key)

    def _replace(self, path: Path, write: Callable[[BinaryIO], object]) -> None:
        with _writing(path):
            staged = _stage(path.parent, write)
            try:
                staged.replace(path)
            except BaseException:
                staged.unlink()
                raise
            _sync(path.parent)


def _stage(folder: Path, write: Callable[[BinaryIO], object]) -> Path:
    """A synced file in the folder, under a name that no listing shows; nothing when it fails."""
    _make(folder)
    staged = folder / f"{STAGED}{uuid4().hex}"
    try:
        with staged.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged


def _link(staged: Path, path: Path) -> bool:
    """Give the file its name unless that is taken; the kernel lets one writer win."""
    try:
        path.hardlink_to(staged)
    except FileExistsError:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None
        # Over NFS a repeated request can find the very link that its first copy made.
        return staged.stat().st_nlink == 2
    except OSError as error:
        if error.errno in _NO_LINKS:
            raise StorageError(
                f"{path}: this filesystem has no hard links, so nothing can be written there "
                f"exactly once; keep runs on another one (ext4, xfs, apfs, nfs) or in a bucket"
            ) from error
        raise
    return True


def _make(folder: Path) -> None:
    """Make a folder and those above it, each synced into the one above."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync(folder.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # what filesystems say whose folders can't be synced
            raise
    finally:
        os.close(descriptor)


def _walk(folder: str, prefix: str, above: tuple[tuple[int, int], ...]) -> Iterator[ObjectInfo]:
    """Files under the folder in key order: a folder sorts as its name with `/` behind it.

    Symbolic links are followed, but not in circles; a link to nothing is no object.
    """
    try:
        with os.scandir(folder) as scan:
            entries = sorted((e.name + "/" if e.is_dir() else e.name, e) for e in scan)
        inside = Path(folder).stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _refusal("read", folder, error) from error
    here = (inside.st_dev, inside.st_ino)
    if here in above:
        return
    for name, entry in entries:
        if not name.isascii():
            _check_utf8(folder, name)
        if name.endswith("/"):
            yield from _walk(entry.path, prefix + name, (*above, here))
        elif not name.startswith(STAGED):
            info = _info(prefix + name, entry)
            if info is not None:
                yield info


def _info(key: str, entry: "os.DirEntry[str]") -> ObjectInfo | None:
    try:
        found = entry.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refusal("read", entry.path, error) from error
    return ObjectInfo(key, found.st_size, _etag(found)) if stat.S_ISREG(found.st_mode) else None


def _check_utf8(folder: str, name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise StorageError(
            f"{folder}: the file name {os.fsencode(name)!r} is not UTF-8; rename or move the file"
        ) from error


def _etag(found: os.stat_result) -> str:
    """The inode is in it because two writes can fall into one tick of the disk's clock."""
    return f"{found.st_ino:x}-{found.st_mtime_ns:x}-{found.st_size:x}"


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise ObjectMissingError(f"{path}: there is no such file") from error
    except OSError as error:
        raise _refusal("read", path, error) from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refusal("write", path, error) from error


def _refusal(verb: str, path: Path | str, error: OSError) -> StorageError:
    if error.errno in _FULL:
        return StorageError(
            f"{path}: can't {verb} it, no space left on the disk; free some space, or choose "
            f"another place, and run it again"
        )
    if error.errno in _REFUSED:
        return PermissionRefusedError(
            f"{path}: can't {verb} it ({error.strerror}); give user id {os.geteuid()} the right "
            f"to, or choose another place"
        )
    return StorageError(f"{path}: can't {verb} it ({error.strerror or error})")
