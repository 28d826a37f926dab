"""Starts one program that dies with its parent. Runs as a script; also imported for `die_with_parent`.

Uses the standard library only, because it starts every child with `-I -S`, within a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have Linux send this process SIGKILL when the thread that started it ends; elsewhere do nothing.

    `parent` is the starter's process id. If the starter has already died, this process exits with status 1.
    The setting survives exec, but not fork: each forked child must call this again.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - the program is named by path, by our own parent
