"""A command on a system that lets it start no more threads."""

from __future__ import annotations

import subprocess
import sys

STARTS_A_THREAD = """
import resource
import threading

from battlebot.cli import commands, main
from battlebot.embedded import limits

limits._tasks_of_group = lambda: None

@commands.command()
def starts():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    threading.stack_size(8 << 30)
    threading.Thread(target=print).start()

main(["starts"])
"""


def test_no_more_threads_is_one_clear_line() -> None:
    """MongoDB's driver is the first to start some; so is a limit named that may be why."""
    done = subprocess.run([sys.executable, "-c", STARTS_A_THREAD], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == (
        "battlebot: No more threads can be started."
        " The system allows only 4194304 kB of addresses (ulimit -v) here: raise the limit.\n"
    )
