"""Web nodes with short limits, bots at a table, and a look at every part's log when a module is through."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from cluster import Cluster, Web, cluster, wait_for
from peer import Peer, new_name

from battlebot.arena import keys
from battlebot.arena.connection import connect
from battlebot.config import Settings
from battlebot.matchmaking.queue import Queues

Seats = tuple[Peer, Peer]


@pytest.fixture(scope="module")
def servers(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A module's processes, none started yet. When the module is through, no part may have logged an error."""
    with cluster(module_settings, tmp_path_factory.mktemp("servers")) as made:
        yield made
    wrong = [line for line in made.logs().splitlines() if "Traceback" in line or _is_error(line)]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def web(servers: Cluster, request: pytest.FixtureRequest) -> Web:
    """The module's web node, with the settings that the module names in SETTINGS."""
    return servers.web(**getattr(request.module, "SETTINGS", {}))


@pytest.fixture(scope="module")
def workers(servers: Cluster, web: Web) -> Web:
    """The web node once a worker and beat are there too: matches are archived, dead nodes noticed."""
    servers.worker()
    servers.beat()
    wait_for(lambda: web.request("/readyz")[0] == 200, "a ready server")
    return web


@pytest.fixture
def meet(web: Web, module_settings: Settings) -> Iterator[Callable[..., Peer]]:
    """Makes connections, by default to the module's node, and hangs up after the test: see `Switchboard`."""
    switchboard = Switchboard(web)
    yield switchboard
    for peer in switchboard.peers:
        with suppress(OSError):
            peer.reset()
    client = connect(module_settings.redis_url)
    queues = Queues(client)
    wait_for(lambda: not any(queues.tickets(name) for name in queues.names()), "bots that have hung up to be forgotten")
    client.close()


@pytest.fixture
def sit(meet: Switchboard) -> Callable[..., Seats]:
    """`sit(game)`: two new bots at a new match, the one on turn first, their first updates read."""
    return meet.sit


class Switchboard:
    """Called, it answers a new connection without a login."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.peers: list[Peer] = []

    def __call__(self, path: str = "/", web: Web | None = None, **options: Any) -> Peer:
        self.peers.append(Peer((web or self.web).address, path, **options))
        return self.peers[-1]

    def auth(self, game: str = "numberwang", stem: str = "bot") -> dict[str, str]:
        """The credentials of a newly registered bot."""
        return self.web.register(new_name(stem), game)

    def login(self, auth: dict[str, str], web: Web | None = None, login: Any = None, **options: Any) -> Peer:
        """A new connection that has logged in; `login` holds further keys of the login."""
        peer = self(web=web, **options)
        reply = peer.log_in(auth, **(login or {}))
        assert reply["authentication"] == "OK", reply
        return peer

    def sit(self, game: str = "numberwang", nodes: tuple[Web, Web] | None = None, **options: Any) -> Seats:
        """Two new bots at a new match, the one on turn first. Each has `.auth` and its first update, `.first`."""
        peers = []
        for web in nodes or (self.web, self.web):
            auth = self.auth(game)
            peer = self.login(auth, web=web, **options)
            peer.auth = auth  # type: ignore[attr-defined]
            peers.append(peer)
        return self.seated(*peers)

    def seated(self, one: Peer, two: Peer) -> Seats:
        """The two in the order of their turns, after their first updates."""
        for peer in (one, two):
            peer.first = peer.update()  # type: ignore[attr-defined]
        return (one, two) if one.first["state"]["nextPlayer"] == one.bot else (two, one)  # type: ignore[attr-defined]


def _is_error(line: str) -> bool:
    try:
        return json.loads(line)["level"] in ("error", "critical")
    except (ValueError, KeyError, TypeError):
        return False


def queue_of(game: str, contest: str | None = None) -> str:
    """The name of a queue."""
    return keys.queue_name(game, contest)
