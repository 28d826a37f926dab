"""The heartbeats of the nodes, and what they show: outages of a door, the times in which it was open at no node."""

from __future__ import annotations

from typing import Any

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts
from battlebot.redisio.scripts import Argument, Script, Scripts
from battlebot.referee.events import Outage

BEAT = Script("battlebot.arena.live", "beat.lua")

AWAY_S = 5.0  # without a heartbeat of any node; nodes send one a second
RESTARTED_S = 2.0  # the same, before the first heartbeat of a node: all before it have gone
SHUT_S = 86_400.0  # a door that opens no more, because nobody starts a node for it, is not waited for
MOST_OUTAGES = 10  # that are remembered, the latest; an empty seat is looked at before there are more


class Heartbeats:
    """Nodes send them; whoever is about to miss a bot asks for its door's outages. Every method raises Unavailable.

    A node that lives may still be unable to let bots in: only heartbeats that open the door end an outage. Those that
    are only late make none, so that a slow server does not wait for absent bots for ever: it takes `AWAY_S` without
    any, or `RESTARTED_S` before the first of a node that has just started.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._scripts = Scripts(client)

    def send(self, node: str, now_s: float, first: bool, opens: bool = True) -> bool:
        """Notes a node's heartbeat; returns whether the node was not among those that live.

        `opens`: it can let bots in at its door. `first`: it could not before.
        """
        away_s, door = RESTARTED_S if first else AWAY_S, keys.door_of(node)
        arguments: list[Argument] = [node, int(now_s * 1000), int(away_s * 1000), int(opens), MOST_OUTAGES]
        return bool(self._scripts.run(BEAT, [keys.NODES, keys.door(door), keys.outages(door)], arguments))

    def outages(self, door: str, now_s: float) -> list[Outage]:
        """Returns a door's latest outages in their order; one that still lasts is the last, and ends at `now_s`."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.lrange(keys.outages(door), 0, -1)
            pipeline.hget(keys.door(door), "opened")
            rows, opened_ms = pipeline.execute()
        found = [
            Outage(int(since_ms) / 1000, int(until_ms) / 1000) for since_ms, until_ms in map(str.split, texts(rows))
        ]
        opened_s = now_s if opened_ms is None else int(opened_ms) / 1000
        if AWAY_S < now_s - opened_s <= SHUT_S:
            found.append(Outage(opened_s, now_s))
        return found

    def since_s(self, door: str) -> float:
        """Returns since when (epoch) there have always been heartbeats of the door's nodes; 0: there always were."""
        with redis_errors():
            since_ms: Any = self._client.hget(keys.door(door), "since")
        return int(since_ms or 0) / 1000

    def all(self) -> dict[str, float]:
        """Returns node -> its last heartbeat, epoch seconds, for nodes that have not been found dead."""
        with redis_errors():
            rows: Any = self._client.zrange(keys.NODES, 0, -1, withscores=True)
        return {node.decode(): beat_ms / 1000 for node, beat_ms in rows}
