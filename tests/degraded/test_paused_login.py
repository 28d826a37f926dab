"""A node that stands still while a bot logs in: its login came in time, however late it is read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cluster import Cluster, wait_for
from peer import Peer, login_for
from standstill import standing_still
from tcp_peer import TcpPeer

from battlebot.embedded.process import Child

LOGIN_S = 3.0
STANDS_S = 4.5  # longer than bots have to log in
SENT = pytest.mark.parametrize("sent", ["meanwhile", "afterwards"])


@contextmanager
def standing(child: Child) -> Iterator[None]:
    """The node stands still from the beginning of the `with` block on, and for so long after its end."""
    with standing_still(child.pid):
        yield
        until_s = time.monotonic() + STANDS_S
        wait_for(lambda: time.monotonic() > until_s)


@SENT
def test_a_bot_that_logs_in_is_let_in(parts: Cluster, sent: str) -> None:
    """An original client that is told `failed` does not come back."""
    node = parts.web(login_timeout_s=LOGIN_S)
    auth = node.register("ada", "numberwang")
    bot = Peer(node.address)
    login = login_for(auth, bot.message()["salt"])
    with standing(node.child):
        if sent == "meanwhile":
            bot.send(login)
    if sent == "afterwards":
        bot.send(login)
    assert bot.message()["authentication"] == "OK"


@SENT
def test_a_player_that_says_its_name_is_let_in(parts: Cluster, sent: str) -> None:
    """At the TCP door, too."""
    node = parts.tcp(login_timeout_s=LOGIN_S)
    player = TcpPeer(node.address)
    player.send({"username": 5})
    assert "error" in player.read()
    with standing(node.child):
        if sent == "meanwhile":
            player.send({"username": "ada"})
    if sent == "afterwards":
        player.send({"username": "ada"})
    assert player.read() == {"status": "ok"}
