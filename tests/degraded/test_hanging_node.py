"""A web node's process hangs for so long that gunicorn ends it: to the bots that is a node that died."""

from __future__ import annotations

import re
import socket
import time

import pytest
from cluster import wait_for
from frail import Frail, play_out
from switchboard import Switchboard

# the node is ended long before it is taken for dead
PLAY = {"turn_timeout_ms": 4000, "node_timeout_s": 20.0, "node_grace_s": 30.0}
STAYS_AWAY_S = 6.0  # longer than the bots' own time


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
