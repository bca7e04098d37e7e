import os
import subprocess
import sys

import pytest

from gristmill.queue.owner import owner_alive, this_owner

_NAME = "from gristmill.queue.owner import this_owner; print(this_owner(), flush=True); input()"


def test_this_process_lives() -> None:
    assert owner_alive(this_owner())
    assert this_owner() == this_owner()


def test_another_process_lives_until_it_ends() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _NAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    assert name != this_owner()
    assert owner_alive(name)
    child.kill()
    child.communicate()
    assert not owner_alive(name)


def test_a_killed_process_that_nobody_reaped_is_dead() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _NAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not owner_alive(name)
    child.communicate()


def test_a_reused_process_id_is_another_process() -> None:
    place, _, started = this_owner().rpartition("/")
    assert not owner_alive(f"{place}/{float(started) - 60:.2f}")


def test_a_clock_set_by_a_second_kills_nobody() -> None:
    place, _, started = this_owner().rpartition("/")
    assert owner_alive(f"{place}/{float(started) - 1:.2f}")


@pytest.mark.parametrize("foreign", ["elsewhere/pid:[1]/1/2.00", "me", ""])
def test_what_can_not_be_told_counts_as_alive(foreign: str) -> None:
    assert owner_alive(foreign)


def test_where_there_are_no_process_namespaces_the_host_is_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(_: str) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "readlink", absent)
    assert owner_alive(this_owner())
