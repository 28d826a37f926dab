"""What nobody caught is an event in the log, wherever it was raised."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from cluster import Cluster, wait_for
from partlogs import errors

SETUP = """
import logging, sys, threading
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
POOL = """
from gevent.event import Event
from gevent.threadpool import ThreadPoolExecutor
called = Event()
def failing(future):
    called.set()
    fail()
ThreadPoolExecutor(1).submit(int).add_done_callback(failing)
called.wait()
"""
# nothing in the hub may wait
HELD = """
with logging.getLogger().handlers[0].lock:
    gevent.get_hub().loop.run_callback(fail)
    gevent.sleep(0.01)
sys.exit(3)
"""
THREAD = 'thread = threading.Thread(target=fail, name="ticks"); thread.start(); thread.join()'


def run(what: str, imports: str = "") -> tuple[int, list[dict[str, Any]]]:
    """Runs a program that does `what`; returns its exit status and what it logged. Fails if it wrote anything else."""
    child = program(what, imports)
    assert "hunter2" not in child.stderr
    return child.returncode, [json.loads(line) for line in child.stderr.splitlines()]


def program(what: str, imports: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that does `what`."""
    text = SETUP.format(imports=imports) + what
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("imports", "what", "status", "where"),
    [
        ("", "fail()", 1, "process"),
        ("", THREAD, 0, "thread ticks"),
        ("", "Fails()", 0, "function fail"),
        (GREENLETS, THREAD, 0, "thread ticks"),
        (GREENLETS, "gevent.spawn(fail, 1).join()", 0, "fail(1)"),
        (GREENLETS, POOL, 0, "function failing"),
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


@pytest.mark.parametrize(("imports", "what"), [("", "kept = Fails(); sys.exit(3)"), (GREENLETS, HELD)])
def test_where_nothing_can_be_logged_only_its_kind_is_told(imports: str, what: str) -> None:
    """As at the very end of Python; its message may hold a secret."""
    child = program(what, imports)
    assert (child.returncode, child.stderr) == (3, "error.uncaught: ValueError\n")


def test_a_web_node_has_the_hooks(parts: Cluster) -> None:
    """In its worker, whose arbiter had no gevent when it set up the logs."""
    web = parts.web("tests.embedded.failing_wsgi")
    wait_for(lambda: len(errors(web.log.read_text())) == 2, "both errors")
    logged = [json.loads(line) for line in errors(web.log.read_text())]
    assert {event["event"] for event in logged} == {"error.uncaught"}
    assert sorted(event["where"].split()[0] for event in logged) == ["greenlet:", "thread"]


@pytest.mark.parametrize("what", ["sys.exit(3)", "threading.Thread(target=sys.exit).start(); sys.exit(3)"])
@pytest.mark.parametrize("imports", ["", GREENLETS])
def test_to_end_is_no_error(what: str, imports: str) -> None:
    """A process and a thread may do so by SystemExit."""
    assert run(what, imports) == (3, [])


def test_an_interrupted_process_ends_as_python_ends_it() -> None:
    """By the signal, which its shell sees, without an event."""
    child = program("os.kill(os.getpid(), signal.SIGINT)", "import os, signal")
    assert (child.returncode, child.stderr.splitlines()[-1]) == (-2, "KeyboardInterrupt")
