"""Processes that stand still for a while: their sockets stay open, and nothing is answered."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cluster import wait_for

STILL = "TtZX"  # the states of /proc in which a thread does nothing: stopped, traced, dead


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    """Has a process, with its group if it leads one, do nothing at all from the beginning of the `with` block on.

    Resumes it at the end, if it lives.
    """
    stop(pid)
    try:
        yield
    finally:
        resume(pid)


def stop(pid: int) -> None:
    """Stops a process, with its group if it leads one; returns when each of its threads stands still.

    The signal alone is not enough: what runs on another processor may still answer after it has been sent.
    """
    _signal(pid, signal.SIGSTOP)
    wait_for(lambda: _stands(pid), "a process to stand still")


def resume(pid: int) -> None:
    """Resumes what `stop` stopped, if it lives."""
    with suppress(ProcessLookupError):
        _signal(pid, signal.SIGCONT)


def _signal(pid: int, number: int) -> None:
    if os.getpgid(pid) == pid:
        os.killpg(pid, number)
    else:
        os.kill(pid, number)


def _stands(pid: int) -> bool:
    """Returns whether all threads of the process stand still, and those of its group if it leads one."""
    states = set()
    try:
        for about in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
            state, _, group = about.read_text().rpartition(") ")[2].split()[:3]
            if pid in (int(about.parts[2]), int(group)):
                states.add(state)
    except (FileNotFoundError, ProcessLookupError):
        # some process has ended while it was looked at: the caller looks again
        return False
    return states <= set(STILL)
