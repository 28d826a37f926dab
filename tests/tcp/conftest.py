"""Nodes with the TCP door, and players at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from cluster import Cluster, Tcp, wait_for
from doors import meet, servers, sit, web, workers  # noqa: F401
from tcp_peer import Pair, TcpPeer

from battlebot.arena.live.queue import Queues
from battlebot.config import Settings
from battlebot.redisio.connection import connect
from battlebot.wire.duel import GAME


@pytest.fixture(scope="module")
def tcp(servers: Cluster, request: pytest.FixtureRequest) -> Tcp:  # noqa: F811
    """Returns the module's node with the TCP door, with the settings that the module names in TCP_SETTINGS."""
    return servers.tcp(**getattr(request.module, "TCP_SETTINGS", {}))


@pytest.fixture
def join(tcp: Tcp, module_settings: Settings) -> Iterator[Callable[..., TcpPeer]]:
    """Yields `join(name)`: a new player at the TCP door, up to its first `player_is_free`; all leave after the test."""
    peers: list[TcpPeer] = []

    def make(name: str | None = None, node: Tcp | None = None, enter: bool = True) -> TcpPeer:
        peers.append(TcpPeer((node or tcp).address))
        return peers[-1].enter(name) if enter else peers[-1]

    yield make
    for peer in peers:
        with suppress(OSError):
            peer.reset()
    client = connect(module_settings.redis_url)
    queues = Queues(client)
    names = {peer.name for peer in peers}
    waiting = lambda: {ticket.bot for ticket in queues.tickets(GAME)}  # noqa: E731
    wait_for(lambda: not names & waiting(), "players that hung up to be forgotten")
    client.close()


@pytest.fixture
def pair(join: Callable[..., TcpPeer]) -> Callable[..., Pair]:
    """Returns `pair()`: two new players who have found each other, one of them asked for the first move."""
    return lambda *names: Pair(*(join(name) for name in names or (None, None))).begin()
