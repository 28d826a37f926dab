"""A terminal that closes tells all processes that were started in it by SIGHUP; `nohup` has them ignore it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cluster import Cluster, wait_for

from app import answering_workers
from battlebot.embedded.process import Child

SERVES = """
import os, signal
from battlebot.embedded.interrupts import stopped_by_signals

with stopped_by_signals():
    os.kill(os.getpid(), signal.SIGHUP)
    print("goes on")
"""


def test_a_server_goes_on_under_nohup() -> None:
    """And ends without it."""
    told = []
    for starts in (["nohup", sys.executable], [sys.executable]):
        finished = subprocess.run([*starts, "-c", SERVES], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        told.append((finished.returncode, finished.stdout))
    assert told == [(0, "goes on\n"), (0, "")]


@pytest.mark.parametrize("part", ["web", "tcp", "worker", "bots"])
def test_a_part_goes_on_under_nohup(part: str, parts: Cluster) -> None:
    """No node is left, no worker tries to start itself anew: each ends by the second signal, as it should."""
    with ignored():
        child = started(part, parts)
    os.killpg(child.pid, signal.SIGHUP)
    child.ask_to_stop()
    wait_for(lambda: not child.alive, "its end")
    assert child.status() == "exit status 0"
    assert "hup" not in parts.logs().lower()


@pytest.mark.parametrize("part", ["tcp", "worker", "bots"])
def test_a_part_ends_with_its_terminal_as_by_sigterm(part: str, parts: Cluster) -> None:
    """Its players are sent to another node; its tasks are done."""
    child = started(part, parts)
    os.killpg(child.pid, signal.SIGHUP)
    wait_for(lambda: not child.alive, "its end")
    assert child.status() == "exit status 0"
    assert ("node.drains" if part == "tcp" else "worker.stopping") in parts.logs()


def test_a_web_node_that_is_to_start_anew_sends_its_bots_away(parts: Cluster) -> None:
    """Its worker does not just die of the signal."""
    child = started("web", parts)
    os.killpg(child.pid, signal.SIGHUP)
    wait_for(lambda: "node.drains" in parts.logs(), "the worker to drain")
    wait_for(lambda: parts.logs().count("node.started") == 2, "the next one")
    assert child.alive


def started(part: str, parts: Cluster) -> Child:
    """The part, ready."""
    if part in ("web", "tcp"):
        return getattr(parts, part)().child
    child: Child = getattr(parts, part)()
    wait_for(lambda: answering_workers(parts.settings), "the worker")
    return child


@contextmanager
def ignored() -> Iterator[None]:
    """What is started in the `with` block ignores SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
