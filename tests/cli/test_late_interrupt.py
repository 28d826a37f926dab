"""Ctrl-C that comes after a command has printed what it found."""

from __future__ import annotations

import signal
import subprocess
import sys

INTERRUPTED_AT_EXIT = """
import atexit
import signal

from battlebot.cli import main

atexit.register(signal.raise_signal, signal.SIGINT)
main(["--version"])
"""


def test_an_interrupt_after_all_is_done_is_no_traceback() -> None:
    """While Python waits for the threads of MongoDB's driver, say, which takes some tenths of a second."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_AT_EXIT], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("battlebot ")
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
