"""Who holds a lease: a process, named so that others beside it can tell whether it lives."""

import os
import socket
from typing import Final

import psutil

_DRIFT: Final = 2.0
"""Seconds by which a process's start seems to move when the host's clock is set."""


def this_owner() -> str:
    """`<host>/<process namespace>/<pid>/<start time>`: a process id alone may be used again."""
    process = psutil.Process()
    return f"{_place()}/{process.pid}/{process.create_time():.2f}"


def owner_alive(owner: str) -> bool:
    """Whether that process runs. True for one on another host, which nobody here can tell."""
    place, _, process = owner.rpartition("/")[0].rpartition("/")
    if place != _place() or not process.isdecimal():
        return True
    started = float(owner.rpartition("/")[2])
    try:
        found = psutil.Process(int(process))
        if found.status() == psutil.STATUS_ZOMBIE:
            return False
        return abs(found.create_time() - started) <= _DRIFT
    except psutil.NoSuchProcess:
        return False


def _place() -> str:
    """Where a process id means one process: containers of one host may share its name."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - not a path
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}"
