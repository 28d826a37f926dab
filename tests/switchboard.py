"""Connects bots to a module's web nodes, and two of them to a match."""

from __future__ import annotations

from typing import Any

from cluster import Web, wait_for
from peer import Peer, new_name

from battlebot.arena.live.queue import Queues
from battlebot.redisio import keys
from battlebot.redisio.connection import connect

Seats = tuple[Peer, Peer]


class Switchboard:
    """Makes connections; a call returns a new one without a login."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.peers: list[Peer] = []

    def __call__(self, path: str = "/", web: Web | None = None, **options: Any) -> Peer:
        self.peers.append(Peer((web or self.web).address, path, **options))
        return self.peers[-1]

    def auth(self, game: str = "numberwang", stem: str = "bot") -> dict[str, str]:
        """Returns the credentials of a newly registered bot."""
        return self.web.register(new_name(stem), game)

    def login(self, auth: dict[str, str], web: Web | None = None, login: Any = None, **options: Any) -> Peer:
        """Returns a new connection that has logged in; `login` holds further keys of the login."""
        peer = self(web=web, **options)
        reply = peer.log_in(auth, **(login or {}))
        assert reply["authentication"] == "OK", reply
        return peer

    def sit(self, game: str = "numberwang", nodes: tuple[Web, Web] | None = None, **options: Any) -> Seats:
        """Returns two new bots at a new match, the one on turn first, with `.auth` and their first update, `.first`."""
        peers = []
        for web in nodes or (self.web, self.web):
            auth = self.auth(game)
            peer = self.login(auth, web=web, **options)
            peer.auth = auth  # type: ignore[attr-defined]
            peers.append(peer)
        return self.seated(*peers)

    def seated(self, one: Peer, two: Peer) -> Seats:
        """Returns the two in the order of their turns, after their first updates."""
        for peer in (one, two):
            peer.first = peer.update()  # type: ignore[attr-defined]
        return (one, two) if one.first["state"]["nextPlayer"] == one.bot else (two, one)  # type: ignore[attr-defined]

    def until_waiting(self, number: int, game: str = "numberwang") -> None:
        """Returns once so many bots wait for a match of the game outside contests."""
        client = connect(self.web.settings.redis_url)
        queues = Queues(client)
        wait_for(lambda: len(queues.tickets(keys.queue_name(game, None))) == number, f"{number} waiting bots")
        client.close()
