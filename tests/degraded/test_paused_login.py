"""A node that stands still while a bot logs in: its login came in time, however late it is read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from cluster import Cluster, Tcp, Web, cluster, wait_for
from frail import play_out
from peer import Peer, login_for, new_name
from standstill import standing_still
from switchboard import Switchboard
from tcp_peer import TcpPeer

from battlebot.config import Settings
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


@pytest.fixture(scope="module")
def parts(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yields a cluster for all tests of this module."""
    with cluster(module_settings, tmp_path_factory.mktemp("paused")) as made:
        yield made


@pytest.fixture(scope="module")
def lasting(parts: Cluster) -> Web:
    """Returns a web node that never stands still."""
    return parts.web(**PLAY)


@pytest.fixture(scope="module")
def sleeper(parts: Cluster) -> Web:
    """Returns another one, which stands still in each test, and goes on after it."""
    return parts.web(**PLAY, login_timeout_s=LOGIN_S)


@pytest.fixture(scope="module")
def door(parts: Cluster) -> Tcp:
    """Returns a node with the TCP door, which does so, too."""
    return parts.tcp(login_timeout_s=LOGIN_S)


@pytest.fixture(scope="module")
def swept(parts: Cluster, lasting: Web) -> Cluster:
    """Returns the cluster with a worker and beat, who find a dead node."""
    parts.worker(**PLAY)
    parts.beat(**PLAY)
    lasting.wait_until_ready()
    return parts


@SENT
def test_a_bot_that_logs_in_is_let_in(sleeper: Web, sent: str) -> None:
    """An original client that is told `failed` does not come back."""
    auth = sleeper.register(new_name(), "numberwang")
    bot = Peer(sleeper.address)
    login = login_for(auth, bot.message()["salt"])
    with standing(sleeper.child):
        if sent == "meanwhile":
            bot.send(login)
    if sent == "afterwards":
        bot.send(login)
    assert bot.message()["authentication"] == "OK"
    bot.reset()


@SENT
def test_a_player_that_says_its_name_is_let_in(door: Tcp, sent: str) -> None:
    """At the TCP door, too."""
    player, name = TcpPeer(door.address), {"username": new_name()}
    player.send({"username": 5})
    assert "error" in player.read()
    with standing(door.child):
        if sent == "meanwhile":
            player.send(name)
    if sent == "afterwards":
        player.send(name)
    assert player.read() == {"status": "ok"}


def test_a_bot_that_stays_away_is_missed_though_a_node_stands_still(lasting: Web, sleeper: Web) -> None:
    """A silent node is not waited for any longer when it may be dead; nobody sweeps yet, who would find it dead."""
    mover, other = Switchboard(lasting).sit()
    with standing_still(sleeper.child.pid):
        mover.reset()
        assert other.final()["state"]["reason"] == "disconnect"


def test_a_bot_that_stays_away_while_a_node_stops_loses(swept: Cluster, lasting: Web) -> None:
    """It cannot have come to that one, which has refused connections since before it ended."""
    mortal = swept.web(**PLAY)
    mover, other = Switchboard(lasting).sit()
    mortal.child.ask_to_stop()
    mover.reset()
    assert other.final()["state"]["reason"] == "disconnect"


def held_up(parts: Cluster, match_id: str) -> None:
    """Waits for longer than a bot may stay away, less than a node may be silent."""
    until_s = time.monotonic() + HOLDS_UP_S
    wait_for(lambda: time.monotonic() > until_s)


def taken_for_dead(parts: Cluster, match_id: str) -> None:
    """Waits until the node is."""
    stranded = f'"match":"{match_id}"'
    wait_for(
        lambda: any("match.stranded" in line and stranded in line for line in parts.logs().splitlines()),
        "the node to be taken for dead",
    )


@pytest.mark.parametrize("until", [held_up, taken_for_dead])
def test_a_bot_that_comes_back_to_a_node_that_stands_still_is_not_missed(
    swept: Cluster, lasting: Web, sleeper: Web, until: Callable[[Cluster, str], None]
) -> None:
    """The other node, its opponent's, has seen it leave, and does not know where it is when its time is over.

    The last test: of a node that was taken for dead, more is forgiven for a while after it has gone on.
    """
    meet = Switchboard(lasting)
    mover, other = meet.sit()
    match_id = mover.first["match"]["id"]
    with ThreadPoolExecutor() as pool:
        with standing_still(sleeper.child.pid):
            mover.reset()
            coming = pool.submit(meet.login, mover.auth, web=sleeper)
            until(swept, match_id)
            assert not coming.done()
        back = coming.result()
    assert back.update()["match"]["id"] == match_id
    assert play_out(back, other)["reason"] == "complete"
