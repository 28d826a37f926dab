"""A turn at which a game's code never returns, or ends the process: its node dies."""

from __future__ import annotations

import pytest
from cluster import Web, wait_for
from frail import Frail, play_out
from peer import Peer
from switchboard import Switchboard

PLAY = {"turn_timeout_ms": 8000, "node_timeout_s": 2.0, "node_grace_s": 60.0}
DEATHS = 2


@pytest.fixture(scope="module")
def mortal(frail: Frail, web: Web) -> Web:
    """Returns a node, beside another, whose game can be fatal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GUNICORN_CMD_ARGS", "--timeout 5")
        return frail.parts.web("tests.degraded.fatal_wsgi", **PLAY)


def back(meet: Switchboard, web: Web, peer: Peer, resumes: bool) -> Peer:
    """Returns the bot's new connection, with its first update, once the node lives again."""
    wait_for(lambda: _answers(web), "the node")
    login = {"protocol": 2, "resume": peer.first["match"]["id"]} if resumes else {}  # type: ignore[attr-defined]
    again = meet.login(peer.auth, web=web, login=login)  # type: ignore[attr-defined]
    again.auth = peer.auth  # type: ignore[attr-defined]
    again.first = again.update()  # type: ignore[attr-defined]
    return again


def _answers(web: Web) -> bool:
    try:
        return bool(web.request("/healthz")[0] == 200)
    except OSError:
        return False


@pytest.mark.parametrize(("fatal", "resumes"), [("block", True), ("exit", False)])
def test_after_a_fatal_turn_the_match_goes_on_with_a_fresh_clock(
    meet: Switchboard, mortal: Web, fatal: str, resumes: bool
) -> None:
    """The bot has moved, and been told nothing: neither its own time nor the node's is charged."""
    mover, other = meet.sit(nodes=(mortal, mortal))
    mover.send({"n": 1, "fatal": fatal})
    assert [peer.closed().code for peer in (mover, other)] == [None, None]
    again = [back(meet, mortal, peer, resumes) for peer in (mover, other)]
    assert again[0].first["match"]["remainingMs"] == 8000  # type: ignore[attr-defined]
    assert play_out(again[0], again[1])["reason"] == "complete"


def test_a_turn_that_is_fatal_again_and_again_ends_the_match(meet: Switchboard, mortal: Web) -> None:
    """As an error of the game's: its third node lives. Who comes back by `resume` is told, even after the other."""
    mover, other = meet.sit(nodes=(mortal, mortal))
    for _ in range(DEATHS - 1):
        mover.send({"n": 1, "fatal": "crash"})
        assert [peer.closed().code for peer in (mover, other)] == [None, None]
        mover, other = (back(meet, mortal, peer, resumes=True) for peer in (mover, other))
    mover.send({"n": 1, "fatal": "crash"})
    assert [peer.closed().code for peer in (mover, other)] == [None, None]
    for peer in (mover, other):
        end = back(meet, mortal, peer, resumes=True).first  # type: ignore[attr-defined]
        assert (end["state"]["reason"], end["state"]["victor"], end["match"]["fault"]) == ("error", None, "server")
