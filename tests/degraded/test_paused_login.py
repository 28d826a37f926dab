"""A node that stands still while a bot logs in: its login came in time, however late it is read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from cluster import Cluster, Web, wait_for
from frail import play_out
from peer import Peer, login_for
from standstill import standing_still
from switchboard import Switchboard
from tcp_peer import TcpPeer

from battlebot.embedded.process import Child

LOGIN_S = 3.0
STANDS_S = 4.5  # longer than bots have to log in
PLAY = {"turn_timeout_ms": 3000, "sweep_interval_s": 0.3}
HOLDS_UP_S = 4.5
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


def swept(parts: Cluster) -> tuple[Web, Web]:
    """Returns two nodes, with a worker and beat, who find a dead one."""
    nodes = parts.web(**PLAY), parts.web(**PLAY)
    parts.worker(**PLAY)
    parts.beat(**PLAY)
    nodes[0].wait_until_ready()
    return nodes


def held_up(parts: Cluster) -> None:
    """Waits for longer than a bot may stay away, less than a node may be silent."""
    until_s = time.monotonic() + HOLDS_UP_S
    wait_for(lambda: time.monotonic() > until_s)


def taken_for_dead(parts: Cluster) -> None:
    """Waits until the node is."""
    wait_for(lambda: "match.stranded" in parts.logs(), "the node to be taken for dead")


@pytest.mark.parametrize("until", [held_up, taken_for_dead])
def test_a_bot_that_comes_back_to_a_node_that_stands_still_is_not_missed(
    parts: Cluster, until: Callable[[Cluster], None]
) -> None:
    """The other node, its opponent's, has seen it leave, and does not know where it is when its time is over."""
    lasting, sleeper = swept(parts)
    meet = Switchboard(lasting)
    mover, other = meet.sit()
    with ThreadPoolExecutor() as pool:
        with standing_still(sleeper.child.pid):
            mover.reset()
            coming = pool.submit(meet.login, mover.auth, web=sleeper)
            until(parts)
            assert not coming.done()
        back = coming.result()
    assert back.update()["match"]["id"] == mover.first["match"]["id"]
    assert play_out(back, other)["reason"] == "complete"


def test_a_bot_that_stays_away_is_missed_though_a_node_stands_still(parts: Cluster) -> None:
    """A silent node is not waited for any longer when it may be dead."""
    lasting, sleeper = parts.web(**PLAY), parts.web(**PLAY)
    mover, other = Switchboard(lasting).sit()
    with standing_still(sleeper.child.pid):
        mover.reset()
        assert other.final()["state"]["reason"] == "disconnect"


def test_a_bot_that_stays_away_while_a_node_stops_loses(parts: Cluster) -> None:
    """It cannot have come to that one, which has refused connections since before it ended."""
    lasting, mortal = swept(parts)
    mover, other = Switchboard(lasting).sit()
    mortal.child.ask_to_stop()
    mover.reset()
    assert other.final()["state"]["reason"] == "disconnect"
