"""A web node's process is killed: the next one tells the sweep so, and nobody waits for its missing heartbeats."""

from __future__ import annotations

import os
import signal

from frail import Frail, play_out
from switchboard import Switchboard

from bench.machine import family

# longer than the test waits for anything
PLAY = {"node_timeout_s": 60.0}


def test_bots_of_a_killed_process_play_on_once_the_next_one_has_started(frail: Frail, meet: Switchboard) -> None:
    """Those of protocol 1, which do not ask for their match. They come in at another node."""
    mortal = frail.parts.web(**PLAY)
    auths = [meet.auth(), meet.auth()]
    mover, other = meet.seated(*(meet.login(auth, web=mortal) for auth in auths))
    os.kill(family(mortal.child.pid)[1], signal.SIGKILL)
    back = {auth["bot_id"]: meet.login(auth) for auth in auths}
    for peer in back.values():
        assert peer.update()["match"]["id"] == mover.first["match"]["id"]  # type: ignore[attr-defined]
    assert play_out(back[mover.bot], back[other.bot])["reason"] == "complete"
