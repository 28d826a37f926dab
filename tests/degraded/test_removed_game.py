"""A game is removed from games/ while its bots play, perhaps by mistake."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster import Web, cluster
from peer import login_for
from switchboard import Switchboard

from battlebot.config import Settings


@pytest.fixture(scope="module")
def nodes(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Web]]:
    """A node with the game, and one without it."""
    with cluster(module_settings, tmp_path_factory.mktemp("nodes")) as parts:
        yield parts.web(), parts.web("tests.degraded.removed_wsgi")


@pytest.fixture
def web(nodes: tuple[Web, Web]) -> Web:
    """The one with the game."""
    return nodes[0]


@pytest.mark.parametrize("plays", [True, False], ids=["in its match", "without a match"])
def test_its_bots_are_told_to_try_again_later(meet: Switchboard, nodes: tuple[Web, Web], plays: bool) -> None:
    """Their matches go on when it is put back: a bot whose login is refused would end."""
    node = nodes[1]
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
