"""The heartbeats of the nodes, and what they show: outages, the times in which no node at all lived."""

from __future__ import annotations

from typing import Any

import redis

from battlebot.arena import keys
from battlebot.arena.connection import redis_errors, texts
from battlebot.arena.scripts import Argument, Script, Scripts
from battlebot.arena.store import LIVES_S
from battlebot.referee.events import Outage

BEAT = Script("battlebot.arena", "beat.lua")

AWAY_S = 5.0  # without a heartbeat of any node; nodes send one a second
MOST_OUTAGES = 10  # that are remembered, the latest; an empty seat is looked at before there are more


class Heartbeats:
    """Nodes send them; whoever is about to miss a bot asks for the outages. Every method raises Unavailable.

    Heartbeats that are only late make no outage, so that a slow server does not wait for absent bots for ever: it takes
    `AWAY_S` without any, or `LIVES_S` before the first of a node that has just started.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._scripts = Scripts(client)

    def send(self, node: str, now_s: float, first: bool) -> bool:
        """Notes a node's heartbeat, its `first` or a later one; returns whether it was not among those that live."""
        away_s = LIVES_S if first else AWAY_S
        arguments: list[Argument] = [node, int(now_s * 1000), int(away_s * 1000), MOST_OUTAGES]
        return bool(self._scripts.run(BEAT, [keys.NODES, keys.BEAT, keys.OUTAGES], arguments))

    def outages(self, now_s: float) -> list[Outage]:
        """Returns the latest outages in their order; one that still lasts is the last, and ends at `now_s`."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.lrange(keys.OUTAGES, 0, -1)
            pipeline.get(keys.BEAT)
            rows, beat_ms = pipeline.execute()
        found = [Outage(*(int(moment_ms) / 1000 for moment_ms in row.split())) for row in texts(rows)]
        if beat_ms is not None and now_s - int(beat_ms) / 1000 > AWAY_S:
            found.append(Outage(int(beat_ms) / 1000, now_s))
        return found

    def all(self) -> dict[str, float]:
        """Returns node -> its last heartbeat, epoch seconds, for nodes that have not been found dead."""
        with redis_errors():
            rows: Any = self._client.zrange(keys.NODES, 0, -1, withscores=True)
        return {node.decode(): beat_ms / 1000 for node, beat_ms in rows}
