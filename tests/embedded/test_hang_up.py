"""A terminal that closes tells all processes that were started in it by SIGHUP; `nohup` has them ignore it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster import Cluster, cluster, free_port, wait_for

from app import answering_workers
from battlebot.config import Settings
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


ENDS = """
import os, signal, sys
from battlebot.embedded import interrupts

interrupts.ECHO_S = 60.0
said_twice, another = (signal.Signals[name] for name in sys.argv[1:])
with interrupts.stopped_by_signals():
    try:
        os.kill(os.getpid(), said_twice)
    finally:
        os.kill(os.getpid(), said_twice)
        print("ends gracefully", flush=True)
        os.kill(os.getpid(), another)
"""


@pytest.mark.parametrize(
    ("said_twice", "another"),
    [("SIGHUP", "SIGTERM"), ("SIGTERM", "SIGINT")],
    ids=["a terminal that closes", "make"],
)
def test_a_server_ends_gracefully_though_it_is_told_twice(said_twice: str, another: str) -> None:
    """By a shell, and by the system as the shell ends; by GNU make, which passes on what both have got.

    Another signal ends it at once.
    """
    starts = [sys.executable, "-c", ENDS, said_twice, another]
    finished = subprocess.run(starts, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (finished.returncode, finished.stdout) == (130, "ends gracefully\n")


WAITS = """
import os, sys, threading
from battlebot.embedded.interrupts import stopped_by_signals

with stopped_by_signals():
    # not to the terminal: if that closes as soon as this has been read, writing it there may still be an error
    os.write(int(sys.argv[1]), b"serves")
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join()
    sys.exit("nobody told it that its terminal has closed")
"""


@pytest.mark.parametrize(("behind", "status"), [(False, 0), (True, 1)], ids=["in the foreground", "in the background"])
def test_a_server_ends_though_only_make_is_told_that_the_terminal_closes(behind: bool, status: int) -> None:
    """As in `ssh -t HOST make run`: make leads the session, and at SIGHUP waits for its child.

    A shell's job in the background goes on: it may have been disowned.
    """
    told, tells = os.pipe()
    leader, terminal = pty.fork()
    if not leader:
        # like make, it only waits; a handler is not inherited, as `SIG_IGN` would be
        signal.signal(signal.SIGHUP, lambda *_: None)
        command = [sys.executable, "-c", WAITS, str(tells)]
        child = subprocess.run(command, process_group=0 if behind else None, pass_fds=[tells])
        os._exit(child.returncode)
    assert os.read(told, 6) == b"serves"
    for end in (told, tells, terminal):
        os.close(end)
    ended: list[int] = []
    try:
        wait_for(lambda: ended.extend(os.waitpid(leader, os.WNOHANG)) or ended[-2], "make to end")
    finally:
        if not ended[-2]:
            os.killpg(leader, signal.SIGKILL)
            os.waitpid(leader, 0)
    assert os.waitstatus_to_exitcode(ended[-1]) == status


TELLS = """
import sys
from pathlib import Path
from battlebot.embedded.interrupts import has_terminal

Path(sys.argv[1]).write_text(str(has_terminal()))
"""
IN_A_TERMINAL = "import pty, sys; pty.spawn(sys.argv[1:])"


def test_a_process_knows_its_terminal_though_its_output_goes_to_a_file(tmp_path: Path) -> None:
    """And that it has none, as under systemd."""
    told, log = tmp_path / "told", tmp_path / "log"
    redirected = ["sh", "-c", 'exec "$@" >"$0" 2>&1', str(log), sys.executable, "-c", TELLS, str(told)]
    for starts, answer in (([sys.executable, "-c", IN_A_TERMINAL], "True"), ([], "False")):
        subprocess.run([*starts, *redirected], stdin=subprocess.DEVNULL, check=True, start_new_session=True)
        assert told.read_text() == answer


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


@pytest.mark.parametrize("part", ["worker", "bots"])
def test_a_worker_goes_on_under_nohup_while_it_waits_for_redis(part: str, tmp_path: Path) -> None:
    """It does not try to start itself anew, either."""
    away = Settings(redis_url=f"redis://127.0.0.1:{free_port()}/0")
    with cluster(away, tmp_path, forks=False) as parts, ignored():
        child: Child = getattr(parts, part)()
        wait_for(lambda: "broker.away" in parts.logs(), "its first try")
        os.kill(child.pid, signal.SIGHUP)
        tries = parts.logs().count("broker.away")
        wait_for(lambda: parts.logs().count("broker.away") > tries, "its next try")
        assert child.alive


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
