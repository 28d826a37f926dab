"""What nobody caught is an event in the log, wherever it was raised."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

SETUP = """
import gc, sys, threading
{imports}
from battlebot.config import Settings
from battlebot.embedded.uncaught import log_uncaught
from battlebot.logs import configure_logs

configure_logs(Settings(log_format="json"))
log_uncaught()

def fail(*_):
    raise ValueError("mongodb://me:hunter2@host/ is away")

class Fails:
    __del__ = fail
"""
GREENLETS = "from gevent import monkey; monkey.patch_all(); import gevent"
THREAD = 'thread = threading.Thread(target=fail, name="ticks"); thread.start(); thread.join()'


def run(what: str, imports: str = "") -> tuple[int, list[dict[str, Any]]]:
    """Runs a program that does `what`; returns its exit status and what it logged. Fails if it wrote anything else."""
    program = SETUP.format(imports=imports) + what
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "hunter2" not in child.stderr
    return child.returncode, [json.loads(line) for line in child.stderr.splitlines()]


@pytest.mark.parametrize(
    ("imports", "what", "status", "where"),
    [
        ("", "fail()", 1, "process"),
        ("", THREAD, 0, "thread ticks"),
        ("", "Fails()", 0, "function fail"),
        (GREENLETS, THREAD, 0, "thread ticks"),
        (GREENLETS, "gevent.spawn(fail, 1).join()", 0, "fail(1)"),
        (GREENLETS, "gevent.get_hub().loop.run_callback(fail); gevent.sleep(0.01)", 0, "callback"),
    ],
)
def test_an_error_that_nobody_caught_is_an_event(imports: str, what: str, status: int, where: str) -> None:
    """With its traceback, without the password; the process ends as it would have."""
    ended, [event] = run(what, imports)
    assert (ended, event["event"], event["level"]) == (status, "error.uncaught", "error")
    assert where in event["where"]
    assert "Traceback" in event["exception"]
    assert "mongodb://me:***@host/ is away" in event["exception"]


@pytest.mark.parametrize("what", ["sys.exit(3)", "threading.Thread(target=sys.exit).start(); sys.exit(3)"])
@pytest.mark.parametrize("imports", ["", GREENLETS])
def test_to_end_is_no_error(what: str, imports: str) -> None:
    """A process and a thread may do so by SystemExit."""
    assert run(what, imports) == (3, [])


def test_an_interrupted_process_ends_as_python_ends_it() -> None:
    """By the signal, which its shell sees, without an event."""
    program = SETUP.format(imports="import os, signal") + "os.kill(os.getpid(), signal.SIGINT)"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stderr.splitlines()[-1]) == (-2, "KeyboardInterrupt")
