"""Sends for workers that ask matches' stateless bots, again if a task was lost or a worker died. For the sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog

from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors
from battlebot.redisio.tasklists import TaskLists
from battlebot.referee.match import Match
from battlebot.rules.contract import Game

log = structlog.get_logger()

SENT_S = 3600  # how long it is remembered that a match was sent for
LOOK_S = 10.0  # before the next look at a match that waits for a worker
AGAIN_MS = 5000  # before a match whose worker died is asked for again


class Summons:
    """Every method raises Unavailable."""

    def __init__(self, registry: Mapping[str, Game], store: MatchStore, ask_bots: Callable[[str], None]) -> None:
        """`ask_bots(match_id)` has a worker ask the stateless bots that the match awaits."""
        self._registry = registry
        self._store = store
        self._client = store.client
        self._tasks = TaskLists(store.client, TaskLists.BOTS)
        self._ask_bots = ask_bots

    def send(self, match_id: str, now_s: float) -> None:
        """Sends for a worker, and remembers it until one begins."""
        with redis_errors():
            self._client.set(keys.sent_for(match_id), now_s, ex=SENT_S)
        self._ask_bots(match_id)

    def replace_dead(self) -> None:
        """Has the matches asked for in which a worker died: its lease has ended, by the clock of Redis that gave it."""
        now_ms = self._store.now_ms()
        for match_id in self._store.unasked_ids(now_ms):
            log.warning("match.asked_again", match=match_id)
            self._ask_bots(match_id)
            with redis_errors():
                # if no worker takes the tasks, one more each second is of no use
                self._client.zadd(keys.ASKING, {match_id: now_ms + AGAIN_MS}, xx=True)

    def is_left_to_workers(self, match: Match, now_s: float) -> bool:
        """Returns whether the match awaits only stateless bots, and a worker asks them or none has begun since `send`.

        Workers are busy or away then, and the match waits, however often it is looked at. The leases of a dead worker
        expire, and one that asks in vain gives its lease up. Another look is scheduled, and a task that has expired, or
        was lost, is sent again.
        """
        awaited = self._registry[match.game].awaited(match.state)
        if any(seat.address is None for seat in match.seats if seat.bot in awaited):
            return False
        with redis_errors():
            if not self._client.exists(keys.asking(match.id)):
                sent: Any = self._client.get(keys.sent_for(match.id))
                if sent is None:
                    return False
                if now_s - float(sent) > TaskLists.ASKING_S or not any(self._tasks.lengths().values()):
                    log.warning("match.in_line", match=match.id)
                    self.send(match.id, now_s)
            self._client.zadd(keys.DEADLINES, {match.id: int((now_s + LOOK_S) * 1000)}, xx=True, gt=True)
        return True
