"""The heartbeats of the nodes, and what they show: outages of a door, the times in which it was open at no node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import redis

from battlebot.arena.live.steadiness import SPARE_S
from battlebot.arena.places import STATELESS, door_of
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts
from battlebot.redisio.scripts import Argument, Script, Scripts
from battlebot.referee.events import Outage

BEAT = Script("battlebot.arena.live", "beat.lua")

AWAY_S = 5.0  # in which the door was not known to be open; nodes send a heartbeat a second
# The next heartbeat is due after one second, and its news of the door may be half a second old: if there is none for
# longer, the door may have been shut. Before the first heartbeat of a node it was: all before it have gone.
GAP_S = 1.75
# A silent node is found dead by then, unless nobody sweeps, or BATTLEBOT_NODE_TIMEOUT is longer
SILENT_S = 15.0
LIVES_S = 2.0  # how long a node counts as alive after a heartbeat; the next is due after one second
SHUT_S = 86_400.0  # a door that opens no more, because nobody starts a node for it, is not waited for
SHUT_KNOWN_S = 3600  # much longer than it takes a node to stop, and to be found dead
MOST_OUTAGES = 10  # that are remembered, the latest; an empty seat is looked at before there are more


class DoorHistory(NamedTuple):
    """What heartbeats show of a door.

    `outages`: the latest, in their order; one that still lasts is the last, and ends now. `open_s`: when (epoch) it was
    last known to be open; None: nothing is known of it. From `shut_s` to `reopened_s` it was last not known to be open
    for longer than `GAP_S`; from `silent_s` to `heard_s` one of its nodes was last silent for as long. All nodes that
    may live have been heard since `all_heard_s`. At `hung_s` one was last found dead that may only have hung.
    """

    outages: list[Outage]
    open_s: float | None
    shut_s: float
    reopened_s: float
    silent_s: float
    heard_s: float
    all_heard_s: float
    hung_s: float

    def could_come_in(self, moment_s: float, now_s: float) -> bool:
        """Returns whether a bot whose time ended at `moment_s` could have come in: the door was open then or later.

        And no node that may live has been silent since: the bot may have come to that one. If the door may have been
        shut, or a node silent, just before, it must have been otherwise for `SPARE_S`: whoever was kept out is on its
        way in. Only the latest such time counts, so that a slow server does not wait for absent bots for ever. A door
        that is not waited for counts as open.
        """
        if self.open_s is None or now_s - self.open_s > SHUT_S:
            return True
        if self.all_heard_s < moment_s or (self.silent_s < moment_s and now_s < self.heard_s + SPARE_S):
            return False
        steady_s = self.reopened_s + SPARE_S
        return self.open_s >= (steady_s if self.shut_s < moment_s < steady_s else moment_s)

    def opened(self, moment_s: float) -> DoorHistory:
        """Returns the history after a heartbeat which says that the door was open at `moment_s`."""
        if self.open_s is None or moment_s <= self.open_s:
            return self
        if moment_s - self.open_s <= GAP_S:
            return self._replace(open_s=moment_s)
        return self._replace(open_s=moment_s, shut_s=self.open_s, reopened_s=moment_s)


class Heartbeats:
    """Nodes send them; whoever is about to miss a bot asks what they show of its door. Every method raises Unavailable.

    A node that lives may still be unable to let bots in: a heartbeat says when it last could. Heartbeats that are only
    late make no outage, so that a slow server does not wait for absent bots for ever: it takes `AWAY_S` in which the
    door was open at no node, or `GAP_S` before a node that has just started opens it. Up to then nobody is missed whose
    time ended when the door was no longer known to be open: whether there is an outage will show. After `GAP_S` bots
    have a moment to come in before they are missed.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._scripts = Scripts(client)

    def send(self, node: str, now_s: float, first: bool, ago_s: float = 0.0) -> bool:
        """Notes a node's heartbeat; returns whether the node was not among those that live.

        `ago_s`: how long ago it could last let bots in at its door; infinite if it never could, or does so no more.
        `first`: it could not before.
        """
        opened_ms = -1 if math.isinf(ago_s) else int((now_s - ago_s) * 1000)
        return self._beat(door_of(node), node, now_s, opened_ms, GAP_S if first else AWAY_S)

    def end(self, nodes: Sequence[str]) -> None:
        """Notes that these nodes have ended, as the system says: the next sweep finds them dead.

        Of one that has been found dead, or is not known, nothing is noted.
        """
        if nodes:
            with redis_errors():
                self._client.zadd(keys.NODES, dict.fromkeys(nodes, 0), xx=True)

    def shut(self, node: str) -> None:
        """Notes that the node lets nobody in any more, as it stops."""
        with redis_errors():
            self._client.set(keys.shut(node), "1", ex=SHUT_KNOWN_S)

    def is_shut(self, node: str) -> bool:
        """Returns whether the node has said, before it was found dead, that it lets nobody in any more."""
        with redis_errors():
            return bool(self._client.exists(keys.shut(node)))

    def hung(self, door: str, now_s: float) -> None:
        """Notes that a node of the door has been found dead that may only hang: bots may have come to it, and wait."""
        with redis_errors():
            self._client.hset(keys.door(door), "hung", int(now_s * 1000))

    def attended(self, now_s: float, away_s: float) -> None:
        """Notes that all stateless bots that can be asked wait now: their door, `STATELESS`, is open.

        If that was not so for longer than `away_s`, or `AWAY_S`, there was an outage.
        """
        self._beat(STATELESS, "", now_s, int(now_s * 1000), max(away_s, AWAY_S))

    def _beat(self, door: str, node: str, now_s: float, opened_ms: int, away_s: float) -> bool:
        gap_ms, away_ms = int(GAP_S * 1000), int(away_s * 1000)
        arguments: list[Argument] = [node, int(now_s * 1000), opened_ms, gap_ms, away_ms, MOST_OUTAGES]
        return bool(self._scripts.run(BEAT, [keys.NODES, keys.door(door), keys.outages(door)], arguments))

    def shown(self, door: str, now_s: float, asker: str = "") -> DoorHistory:
        """Returns what heartbeats up to `now_s` show of a door; `asker` is the node that asks, "" for a worker.

        If nodes of the door have not lived all through an outage that lasts, nobody could come in: it counts like one
        that is over. A node that was silent for `SILENT_S` is gone. That the asker lives need not be heard: it waits by
        itself if it was late.
        """
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.lrange(keys.outages(door), 0, -1)
            pipeline.hmget(keys.door(door), "opened", "since", "shut", "reopened", "silent", "heard", "hung")
            pipeline.zrangebyscore(keys.NODES, int((now_s - SILENT_S) * 1000), "+inf", withscores=True)
            rows, (opened_ms, *moments_ms), beats = pipeline.execute()
        moments_s = (int(moment_ms or 0) / 1000 for moment_ms in moments_ms)
        since_s, shut_s, reopened_s, silent_s, heard_s, hung_s = moments_s
        found = [
            Outage(int(since_ms) / 1000, int(until_ms) / 1000) for since_ms, until_ms in map(str.split, texts(rows))
        ]
        open_s = None if opened_ms is None else int(opened_ms) / 1000
        if open_s is not None and AWAY_S < now_s - open_s <= SHUT_S:
            found.append(Outage(open_s, now_s, lasts=since_s <= open_s))
        nodes = ((node.decode(), beat_ms / 1000) for node, beat_ms in beats)
        heard = [beat_s for node, beat_s in nodes if door_of(node) == door and node != asker]
        all_heard_s = min(heard, default=math.inf)
        return DoorHistory(found, open_s, shut_s, reopened_s, silent_s, heard_s, all_heard_s, hung_s)

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

    def lived_until_s(self, node: str, now_s: float) -> float:
        """Returns until when (epoch) the node is known to have lived; 0 if it has been found dead.

        That is `now_s` if it reads its mailbox and its last heartbeat is less than `LIVES_S` old (a live node's may be
        a second old), otherwise that heartbeat.
        """
        beat_ms, listeners = self._signs_of(node)
        if beat_ms is None:
            return 0.0
        beat_s = float(beat_ms) / 1000
        return now_s if listeners and now_s - beat_s < LIVES_S else beat_s

    def is_gone(self, node: str) -> bool:
        """Returns whether the node has been found dead, or nobody reads its mailbox any more."""
        beat_ms, listeners = self._signs_of(node)
        return beat_ms is None or not listeners

    def _signs_of(self, node: str) -> tuple[float | None, int]:
        """Returns the last heartbeat (ms since the epoch; None: it has been found dead), and how many read its mail."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.zscore(keys.NODES, node)
            pipeline.pubsub_numsub(keys.mailbox(node))
            beat_ms, [(_, listeners)] = pipeline.execute()
        return beat_ms, listeners

    def last_s(self, node: str) -> float:
        """Returns the node's last heartbeat (epoch); 0 if it has been found dead."""
        with redis_errors():
            beat_ms: Any = self._client.zscore(keys.NODES, node)
        return float(beat_ms or 0) / 1000
