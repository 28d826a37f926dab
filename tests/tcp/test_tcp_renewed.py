"""Players of the TCP door whose pass_hash is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import Web
from switchboard import Switchboard
from tcp_peer import Pair, TcpPeer, login_hash

from battlebot.client import Credentials, renew

Player = tuple[TcpPeer, dict[str, str]]


@pytest.fixture
def players(meet: Switchboard, join: Callable[..., TcpPeer]) -> Callable[[], Player]:
    """Returns `players()`: a registered player that has logged in, and its credentials."""

    def make() -> Player:
        auth, peer = meet.auth("gomoku"), join(enter=False)
        peer.name = auth["bot_id"]
        peer.send({"username": peer.name})
        peer.send({"username": peer.name, "login_hash": login_hash(auth["pass_hash"], peer.read()["salt"])})
        assert peer.read() == {"status": "ok"}
        peer.event("player_is_free")
        return peer, auth

    return make


def changed(player: Player, web: Web, folder: Path) -> TcpPeer:
    """Returns the player after its pass_hash was changed."""
    peer, auth = player
    path = folder / f"{peer.name}.json"
    Credentials("gomoku", peer.name, auth["pass_hash"], web.address).save(path)
    renew(path)
    return peer


def test_who_logged_in_with_the_old_one_is_closed(
    meet: Switchboard, players: Callable[[], Player], tmp_path: Path
) -> None:
    """Whether it waits for an opponent or has not asked for one."""
    idle, waits = players(), players()
    waits[0].find()
    meet.until_waiting(1, "gomoku")
    for player in (idle, waits):
        changed(player, meet.web, tmp_path)
    for peer, _ in (idle, waits):
        assert peer.ended()


def test_who_plays_is_closed_after_its_boards(
    meet: Switchboard, players: Callable[[], Player], workers: Web, tmp_path: Path
) -> None:
    """Its opponent is free as after any other."""
    idle, one, two = players(), players(), players()
    pair = Pair(one[0], two[0]).begin()
    for player in (idle, one):
        changed(player, meet.web, tmp_path)
    assert idle[0].ended()
    for board in range(2):
        winner, loser = pair.until_five()
        winner.event("win")
        loser.event("lose")
        if board == 0:
            pair.asked()
    two[0].event("player_is_free")
    assert one[0].ended()
