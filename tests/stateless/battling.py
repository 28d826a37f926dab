"""Battles of bots behind HTTP, begun and watched as a door does, asked by workers of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cluster import Cluster, wait_for
from conductors import Conductor
from records import GAMES

from battlebot.arena.live.store import MatchStore
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect
from battlebot.referee.match import Match
from battlebot.stateless.battles import Battles
from battlebot.stateless.kinds import make_askers
from battlebot.storage import Storage
from tasks.celeryapp import make_celery


class Field:
    """The place where battles are begun; `parts` is the cluster whose workers play them."""

    def __init__(self, parts: Cluster) -> None:
        settings = parts.settings
        self.parts = parts
        self.client = connect(settings.redis_url)
        self.store = MatchStore(self.client)
        self.storage = Storage(settings)
        self.celery = make_celery(settings)
        self.conductor = Conductor(GAMES, self.store, ask_bots=self.ask)
        bus, askers = Bus(self.client), make_askers(settings)
        self.battles = Battles(settings, self.conductor, bus, askers, self.storage.games)

    def ask(self, match_id: str) -> None:
        """Sends the task that asks the bots."""
        self.celery.send_task("tasks.bots.ask", args=(match_id,))

    def begin(self, urls: Sequence[str], names: str = "abcdefgh", **options: Any) -> Match:
        """Begins a battle of bots named by these letters, in the order of their addresses."""
        return self.battles.begin("battlecube", list(zip(names, urls, strict=False)), options)

    def states(self, match: Match) -> list[dict[str, Any]]:
        """Returns every state of a match until its end."""
        return [state for state, _ in self.battles.follow(match)]

    def record(self, match: Match) -> Mapping[str, Any]:
        """Returns the finished match as it is stored."""
        return wait_for(lambda: self.storage.games.find(match.id), "the match in the archive")
