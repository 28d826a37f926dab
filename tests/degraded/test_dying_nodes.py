"""A web node's process dies: it is killed, or hangs for so long that gunicorn ends it. To the bots the node died."""

from __future__ import annotations

import os
import re
import signal
import socket
import time

import pytest
from cluster import Web, wait_for
from frail import Frail, play_out
from switchboard import Switchboard

from bench.machine import family

# the node has its next process, or none, long before it is taken for dead
PLAY = {"turn_timeout_ms": 4000, "node_timeout_s": 60.0, "node_grace_s": 30.0}
STAYS_AWAY_S = 6.0  # longer than the bots' own time
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def test_bots_of_a_node_that_hangs_have_the_grace_period_to_come_back(
    frail: Frail, meet: Switchboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their connections break without a close frame, as if it were killed: 1000 would say that the match is over."""
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--timeout 5")
    mortal = frail.parts.web("tests.degraded.hanging_wsgi", **PLAY)
    monkeypatch.delenv("GUNICORN_CMD_ARGS")
    auths = [meet.auth(), meet.auth()]
    mover, other = meet.seated(*(meet.login(auth, web=mortal) for auth in auths))
    asker = socket.create_connection(("127.0.0.1", mortal.settings.port))
    asker.sendall(b"GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert [peer.closed().code for peer in (mover, other)] == [None, None]
    (hangs,) = (row for row in mortal.log.read_text().splitlines() if '"Hangs, for over 5 seconds: ' in row)
    assert re.search(r"Hangs, for over 5 seconds: \S+/hanging_wsgi\.py:\d+ <lambda>, \S+/flask/app.py:", hangs)
    left_s = time.monotonic()
    wait_for(lambda: time.monotonic() - left_s > STAYS_AWAY_S, "the bots' own time to be over")
    back = {auth["bot_id"]: meet.login(auth) for auth in auths}
    for peer in back.values():
        assert peer.update()["match"]["id"] == mover.first["match"]["id"]  # type: ignore[attr-defined]
    assert play_out(back[mover.bot], back[other.bot])["reason"] == "complete"
    asker.close()


def test_bots_of_a_killed_process_play_on_once_the_next_one_has_started(frail: Frail, meet: Switchboard) -> None:
    """It tells the sweep that they wait: nobody waits for missing heartbeats.

    Those of protocol 1, which do not ask for their match. They come in at another node.
    """
    mortal = frail.parts.web(**PLAY)
    auths = [meet.auth(), meet.auth()]
    mover, other = meet.seated(*(meet.login(auth, web=mortal) for auth in auths))
    os.kill(family(mortal.child.pid)[1], signal.SIGKILL)
    back = {auth["bot_id"]: meet.login(auth) for auth in auths}
    for peer in back.values():
        assert peer.update()["match"]["id"] == mover.first["match"]["id"]  # type: ignore[attr-defined]
    assert play_out(back[mover.bot], back[other.bot])["reason"] == "complete"


def answer(web: Web) -> str:
    """What a client of that node gets that connects now: `refused`, `nothing`, or the status."""
    try:
        with socket.create_connection(("127.0.0.1", web.settings.port), 5.0) as connection:
            connection.settimeout(0.5)
            connection.sendall(REQUEST)
            return connection.recv(100).split(b" ")[1].decode()
    except ConnectionRefusedError:
        return "refused"
    except (TimeoutError, OSError, IndexError):
        return "nothing"


def test_a_node_whose_worker_died_refuses_until_the_next_one_serves(frail: Frail, web: Web) -> None:
    """Bots, and what stands in front of the nodes, try another one.

    Redis hangs, so that none can serve for a while; the port is its own all the time. A second worker dies, too.
    """
    wait_for(lambda: answer(web) == "200", "an answer")
    with frail.paused("valkey"):
        os.kill(family(web.child.pid)[1], signal.SIGKILL)
        wait_for(lambda: answer(web) == "refused", "a refusal")
        wait_for(lambda: "node.waits_for_redis" in web.log.read_text().rpartition("Booting worker")[2], "a worker")
        assert answer(web) == "refused"
        # the port is shut already when this one dies
        os.kill(family(web.child.pid)[1], signal.SIGKILL)
        wait_for(lambda: web.log.read_text().count("Booting worker") == 3, "a worker")
    wait_for(lambda: answer(web) == "200", "the next worker")
    assert web.child.alive
