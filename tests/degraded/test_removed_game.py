"""A game is removed from games/ while its bots play, perhaps by mistake."""

from __future__ import annotations

import pytest
from cluster import Web
from frail import Frail
from peer import login_for
from switchboard import Switchboard


@pytest.fixture(scope="module")
def node(frail: Frail) -> Web:
    """A node without the game."""
    return frail.parts.web("tests.degraded.removed_wsgi")


@pytest.mark.parametrize("plays", [True, False], ids=["in its match", "without a match"])
def test_its_bots_are_told_to_try_again_later(meet: Switchboard, node: Web, plays: bool) -> None:
    """Their matches go on when it is put back: a bot whose login is refused would end."""
    auth, login = meet.auth(), {}
    if plays:
        mover, _ = meet.sit()
        auth, login = mover.auth, {"protocol": 2, "resume": mover.first["match"]["id"]}  # type: ignore[attr-defined]
    peer = meet(web=node)
    peer.send({**login_for(auth, peer.message()["salt"]), **login})
    closed = peer.closed()
    assert (closed.code, closed.reason.partition(":")[0]) == (1011, "unavailable")
    assert "login.without_game" in node.log.read_text()
    assert "pump.failed" not in node.log.read_text()
