"""Bots of contests that were cut off with their node, as it fell silent: they may sit there, and wait."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import orjson
import redis

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.places import node_of
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors

LONGEST_S = 300.0  # how long such a bot is not missed: its node may be gone for good, and the bot with it
KEPT_S = 3600  # much longer, as the time that contests count may lag


class Cut(NamedTuple):
    """A bot is cut off at `node` since `since_s`, and counts so until `until_s` (epoch)."""

    node: str
    since_s: float
    until_s: float


class CutOff:
    """The sweep notes them while a node is silent; a lobby, one that it holds back since its match there has ended.

    Contests do not miss them then. Every method raises Unavailable.
    """

    def __init__(self, client: redis.Redis, heartbeats: Heartbeats) -> None:
        self._client = client
        self._heartbeats = heartbeats

    def note(self, node: str, bots: Mapping[str, Collection[str]], now_s: float) -> None:
        """Notes `bots` (queue -> those with a ticket or seat at the node); call before, or as, they lose these.

        Only those of contests are noted.
        """
        for queue, its_bots in bots.items():
            _, contest = keys.game_and_contest(queue)
            if contest is not None:
                self._write(queue, dict.fromkeys(its_bots, Cut(node, now_s, now_s + LONGEST_S)))

    def times(
        self, queue: str, places: Iterable[tuple[str, str]], now_s: float, grace_s: float
    ) -> dict[str, tuple[float, float]]:
        """Returns from when until when (epoch) bots of a contest's queue were cut off.

        That ends `grace_s` after their node is found to live again, or after `LONGEST_S`. A bot that has been seen
        since is not among them: one of its `places` (bot, place) is at another node, or its node lives again.
        """
        cuts = self._read(queue)
        if not cuts:
            return {}
        beats = self._heartbeats.all()
        back = {bot for bot, cut in cuts.items() if beats.get(cut.node, 0.0) > cut.since_s}
        seen = {bot for bot, place in places if bot in cuts and (bot in back or node_of(place) != cuts[bot].node)}
        self._forget(queue, seen)
        ending = {bot for bot in back - seen if cuts[bot].until_s > now_s + grace_s}
        cuts |= {bot: cuts[bot]._replace(until_s=now_s + grace_s) for bot in ending}
        self._write(queue, {bot: cuts[bot] for bot in ending})
        return {bot: (cut.since_s, cut.until_s) for bot, cut in cuts.items() if bot not in seen}

    def _read(self, queue: str) -> dict[str, Cut]:
        with redis_errors():
            rows: Any = self._client.hgetall(keys.cut_off(queue))
        # a later version may append to a row
        return {bot.decode(): Cut(*orjson.loads(row)[: len(Cut._fields)]) for bot, row in rows.items()}

    def _forget(self, queue: str, bots: Collection[str]) -> None:
        if bots:
            with redis_errors():
                self._client.hdel(keys.cut_off(queue), *bots)

    def _write(self, queue: str, cuts: Mapping[str, Cut]) -> None:
        if not cuts:
            return
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.hset(keys.cut_off(queue), mapping={bot: orjson.dumps([*cut]) for bot, cut in cuts.items()})
            pipeline.expire(keys.cut_off(queue), KEPT_S)
            pipeline.execute()
