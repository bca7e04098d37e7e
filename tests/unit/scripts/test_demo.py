"""The demo, with an engine that needs no model, and its parts."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scripts import demo


@pytest.fixture
def small(tmp_path: Path) -> demo.Demo:
    settings = ("task.engine.records_per_second=400", "part.records=50", "shard.bytes=60KiB")
    return demo.Demo(tmp_path / "demo", "blueprints/selftest", 1000, settings)


def test_the_demo_kills_a_run_in_the_middle_and_finds_the_same_bytes(
    small: demo.Demo, capfd: pytest.CaptureFixture[str]
) -> None:
    assert demo.play(small)
    printed = capfd.readouterr().out
    assert "SAME BYTES" in printed
    assert "of 1,000 records are published" in printed
    assert len(list(small.results("killed").iterdir())) > 1


def test_a_run_that_ends_by_itself_fails_the_demo_with_its_words(tmp_path: Path) -> None:
    broken = demo.Demo(tmp_path, "blueprints/selftest", 1, ("task.kind=nonsense",))
    with pytest.raises(demo.DemoError, match=r"ended by itself, with exit 78.*\n.*task\.kind"):
        demo.run_and_kill(broken, "killed", 1)


def test_killing_a_tree_leaves_neither_parent_nor_children() -> None:
    nested = "import subprocess; subprocess.run(['sleep', '60'])"
    parent = subprocess.Popen([sys.executable, "-c", nested])
    (child,) = _children(parent.pid)
    demo.kill_tree(parent.pid)
    assert parent.wait(10) == -9
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_killing_what_is_gone_is_no_error() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    demo.kill_tree(gone.pid)


@pytest.mark.parametrize(
    ("second", "same"),
    [
        ({"a": b"1", "b": b"2"}, True),
        ({"a": b"1", "b": b"3"}, False),
        ({"a": b"1"}, False),
        ({"a": b"1", "b": b"2", "c": b""}, False),
    ],
)
def test_outputs_are_the_same_only_with_the_same_files_and_bytes(
    tmp_path: Path, second: dict[str, bytes], same: bool
) -> None:
    for folder, files in (("first", {"a": b"1", "b": b"2"}), ("second", second)):
        (tmp_path / folder).mkdir()
        for name, body in files.items():
            (tmp_path / folder / name).write_bytes(body)
    assert demo.compare(tmp_path / "first", tmp_path / "second") is same


def test_two_empty_outputs_prove_nothing(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    assert not demo.compare(tmp_path / "first", tmp_path / "second")


def _children(pid: int) -> list[psutil.Process]:
    parent = psutil.Process(pid)
    while not (children := parent.children()):
        pass
    return children
