import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gristmill.contract.errors import ObjectMissingError, PermissionRefusedError, StorageError
from gristmill.store.local import STAGED, LocalDisk

WRITES: list[Callable[[LocalDisk, Path], object]] = [
    lambda disk, _: disk.put("a/b", b"x" * 100_000),
    lambda disk, _: disk.put_new("a/b", b"x" * 100_000),
    lambda disk, source: disk.put_file("a/b", source),
]
NAMES = ["put", "put_new", "put_file"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def disk(root: Path) -> LocalDisk:
    return LocalDisk(root)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"x" * 100_000)
    return path


def keys(disk: LocalDisk) -> list[str]:
    return [found.key for found in disk.list()]


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if not path.is_dir()]


def refuse(number: int) -> Callable[..., None]:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refused


def test_the_first_write_makes_the_root(disk: LocalDisk, root: Path) -> None:
    assert keys(disk) == []
    with pytest.raises(ObjectMissingError, match="there is no such file"):
        disk.get("a")
    assert not root.exists()
    disk.put("a", b"x")
    assert keys(disk) == ["a"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("write", WRITES, ids=NAMES)
def test_a_full_disk_is_named_and_leaves_nothing(
    disk: LocalDisk,
    source: Path,
    write: Callable[[LocalDisk, Path], object],
    number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk.put("a/before", b"x")
    root = Path(disk.uri)
    monkeypatch.setattr(os, "fsync", refuse(number))
    with pytest.raises(StorageError, match=r"root/a/b: can't write it, no space left") as refused:
        write(disk, source)
    assert not isinstance(refused.value, PermissionRefusedError)
    assert files(root) == [root / "a/before"]


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
def test_a_write_cut_short_by_the_system_leaves_what_was_there(
    disk: LocalDisk, root: Path, source: Path, write: Callable[[LocalDisk, Path], object]
) -> None:
    disk.put("a/b", b"before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(StorageError, match="can't write it"):
            write(disk, source)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(root) == [root / "a/b"]
    assert disk.get("a/b") == b"before"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_refused_write_is_a_matter_of_permission(
    disk: LocalDisk, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", refuse(number))
    with pytest.raises(PermissionRefusedError, match=r"root/a: can't write it \(.*user id"):
        disk.put("a", b"x")


def test_a_refused_read_is_a_matter_of_permission(
    disk: LocalDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.put("a/b", b"x")
    monkeypatch.setattr(Path, "read_bytes", refuse(errno.EACCES))
    with pytest.raises(PermissionRefusedError, match=r"root/a/b: can't read it"):
        disk.get("a/b")
    monkeypatch.setattr(os, "scandir", refuse(errno.EACCES))
    with pytest.raises(PermissionRefusedError, match=r"root: can't read it"):
        keys(disk)


def test_a_failing_disk_is_named(disk: LocalDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.put("a", b"x")
    monkeypatch.setattr(Path, "read_bytes", refuse(errno.EIO))
    with pytest.raises(StorageError, match=r"root/a: can't read it \(Input/output error\)"):
        disk.get("a")


def test_a_source_that_is_not_there_is_named(disk: LocalDisk, tmp_path: Path) -> None:
    with pytest.raises(ObjectMissingError, match="absent: there is no such file"):
        disk.put_file("a", tmp_path / "absent")


def test_what_a_killed_writer_left_is_no_object(root: Path, disk: LocalDisk) -> None:
    kill = (
        "import os, signal, sys; from pathlib import Path; "
        "from gristmill.store.local import LocalDisk; "
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); "
        "LocalDisk(Path(sys.argv[1])).put('a', b'x')"
    )
    root.mkdir()
    assert subprocess.run([sys.executable, "-c", kill, str(root)], check=False).returncode == -9
    (left,) = files(root)
    assert left.name.startswith(STAGED)
    assert keys(disk) == []
    assert disk.put_new("a", b"y")


def test_a_file_has_the_rights_that_the_umask_gives(disk: LocalDisk, root: Path) -> None:
    umask = os.umask(0o027)
    try:
        disk.put("a", b"x")
        disk.put_new("b", b"x")
    finally:
        os.umask(umask)
    assert [path.stat().st_mode & 0o777 for path in files(root)] == [0o640, 0o640]


def test_a_write_is_on_the_disk_before_it_has_its_name(
    disk: LocalDisk, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, bool]] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        is_folder = Path(f"/proc/self/fd/{descriptor}").resolve().is_dir()
        synced.append((is_folder, (root / "a").exists()))
        real(descriptor)

    root.mkdir()
    monkeypatch.setattr(os, "fsync", fsync)
    disk.put("a", b"x")
    assert synced == [(False, False), (True, True)]


def test_a_folder_that_can_not_be_synced_is_no_failure(
    disk: LocalDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").resolve().is_dir():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    disk.put("a", b"x")
    assert disk.get("a") == b"x"


def test_a_reader_keeps_what_it_opened(disk: LocalDisk, root: Path) -> None:
    disk.put("a", b"old")
    with (root / "a").open("rb") as reader:
        disk.put("a", b"new")
        assert reader.read() == b"old"


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
def test_a_folder_is_not_written_over(
    disk: LocalDisk, root: Path, source: Path, write: Callable[[LocalDisk, Path], object]
) -> None:
    disk.put("a/b/c", b"x")
    with pytest.raises(StorageError, match=r"root/a/b: can't write it \(Is a directory\)"):
        write(disk, source)
    assert files(root) == [root / "a/b/c"]
    with pytest.raises(ObjectMissingError):
        disk.get("a/b")
    with pytest.raises(ObjectMissingError):
        disk.head("a/b")


def test_nothing_is_written_below_a_file(disk: LocalDisk) -> None:
    disk.put("a", b"x")
    with pytest.raises(StorageError, match="root/a/b"):
        disk.put("a/b", b"x")
    assert keys(disk) == ["a"]


def test_a_filesystem_without_hard_links_is_refused_with_a_way_out(
    disk: LocalDisk, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "hardlink_to", refuse(errno.EPERM))
    with pytest.raises(StorageError, match="keep runs on another one") as refused:
        disk.put_new("a", b"x")
    assert not isinstance(refused.value, PermissionRefusedError)
    assert files(root) == []


def test_a_link_whose_answer_was_lost_is_a_win(
    disk: LocalDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeated(path: Path, staged: Path) -> None:
        os.link(staged, path)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    monkeypatch.setattr(Path, "hardlink_to", repeated)
    assert disk.put_new("a", b"x")


def test_files_are_listed_whatever_they_are_called(disk: LocalDisk, root: Path) -> None:
    names = ["a#1", "a#2", "tab\tname", "new\nline", "~$lock", ".hidden"]
    root.mkdir()
    for name in names:
        (root / name).write_bytes(b"x")
    assert keys(disk) == sorted(names)
    assert disk.get("new\nline") == b"x"


def test_a_name_that_is_not_utf8_is_refused_not_left_out(disk: LocalDisk, root: Path) -> None:
    root.mkdir()
    (root / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"x")
    with pytest.raises(StorageError, match=r"caf\\xe9.txt.* is not UTF-8; rename"):
        keys(disk)


def test_links_are_followed_but_not_in_circles(disk: LocalDisk, root: Path, source: Path) -> None:
    disk.put("a/b", b"x")
    (root / "a/circle").symlink_to(root)
    (root / "dead").symlink_to(root / "absent")
    (root / "file").symlink_to(source)
    (root / "folder").symlink_to(root / "a")
    assert keys(disk) == ["a/b", "file", "folder/b"]
    assert disk.head("file").size == 100_000


def test_what_is_no_file_is_no_object(disk: LocalDisk, root: Path) -> None:
    root.mkdir()
    os.mkfifo(root / "pipe")
    (root / "empty folder").mkdir()
    assert keys(disk) == []


def test_a_file_that_goes_while_it_is_listed_is_no_object(disk: LocalDisk, root: Path) -> None:
    disk.put("a", b"x")
    disk.put("b/c", b"x")
    disk.put("d", b"x")
    listing = disk.list()
    assert next(listing).key == "a"
    (root / "b/c").unlink()
    (root / "b").rmdir()
    (root / "d").unlink()
    assert list(listing) == []
