"""Finds what nobody noticed: nodes that died, matches that are overdue. Runs in a worker, every second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import redis
import structlog

from battlebot.arena import keys
from battlebot.arena.conduct import Conductor
from battlebot.arena.connection import redis_errors
from battlebot.arena.mail import nudge
from battlebot.errors import UnknownMatch
from battlebot.matchmaking.queue import Queues
from battlebot.referee.events import Orphaned, Overdue
from battlebot.referee.match import Fault, Match

log = structlog.get_logger()

# how much a match is overdue when the sweep takes it up: its node goes first, and bots that came back while Redis was
# away sit down first
SPARE_S = 2.0
AGAIN_MS = 5000  # before a match that no worker has taken up is asked for again
LOOK_S = 10.0  # before the next look at a match that waits for busy workers
TASK_S = 60.0  # how long a task that asks bots waits for a worker before it expires
MOST_LEASES = 100  # that are looked at, those that run longest first: the others may be of dead workers
SENT_S = 3600  # how long it is remembered that a match was sent for
LATE_S = 0.5  # a sweep that is later than this has stalled, and perhaps Redis with it


class Past(NamedTuple):
    """What is known of earlier sweeps: whether the last was `recent`, and whether they have been on time for `SPARE_S`.

    `since_gap_s`: seconds since the server was back after a time in which there were none.
    """

    recent: bool
    steady: bool
    since_gap_s: float


class Sweeper:
    """Sweeps all live matches. Every method raises Unavailable."""

    def __init__(
        self,
        client: redis.Redis,
        conductor: Conductor,
        queues: Queues,
        node_timeout_s: float,
        every_s: float,
        ask_bots: Callable[[str], None] = lambda match_id: None,
    ) -> None:
        """`ask_bots(match_id)` has the stateless bots asked that the match awaits."""
        self._client = client
        self._conductor = conductor
        self._queues = queues
        self._ask_bots = ask_bots
        self._node_timeout_s = node_timeout_s
        self._gap_s = max(node_timeout_s, 3 * every_s)
        self._late_s = every_s + LATE_S

    def sweep(self) -> int:
        """Empties the seats of dead nodes, with a grace, and brings overdue matches on; returns how many of these."""
        nodes = self._nodes()
        past = self._look_back(time.time())
        before_ms = (time.time() - self._node_timeout_s) * 1000
        # after a gap all heartbeats are old, even those of live nodes: one found dead here would only come back by its
        # next heartbeat
        dead = [node for node, beat_ms in nodes.items() if beat_ms < before_ms] if past.recent else []
        alive = nodes.keys() - set(dead) | {keys.STATELESS}
        for node in dead:
            log.warning("node.dead", node=node)
            self._queues.drop_node(node)
        if dead:
            for match_id in self._conductor.store.live_ids():
                self._orphan(match_id, alive)
            with redis_errors():
                self._client.zrem(keys.NODES, *dead)
        for match_id in self._conductor.store.unasked_ids():
            log.warning("match.asked_again", match=match_id)
            self._ask_bots(match_id)
            with redis_errors():
                # if no worker takes the tasks, one more each second is of no use
                self._client.zadd(keys.ASKING, {match_id: self._conductor.store.now_ms() + AGAIN_MS}, xx=True, gt=True)
        overdue = self._conductor.store.overdue_ids(self._conductor.now_s() - SPARE_S)
        for match_id in overdue:
            self._bring_on(match_id, alive, past)
        return len(overdue)

    def _look_back(self, now_s: float) -> Past:
        """Returns what is known of earlier sweeps, and notes this one.

        After a gap, perhaps of Redis, the nodes may first send heartbeats, and returning bots may sit down. If every
        sweep is late, nothing has stalled: only the first late sweep after one in time counts as a gap.
        """
        with redis_errors():
            last: Any = self._client.get(keys.SWEPT)
            fields = (last or b"").decode().split()
            last_s, since_s, was_late, back_s = map(float, fields) if len(fields) == 4 else (0.0, now_s, 0.0, now_s)
            late = now_s - last_s > self._late_s
            since_s = now_s if late and not was_late else since_s
            self._client.set(keys.SWEPT, f"{now_s} {since_s} {late:d} {back_s}", px=int(self._gap_s * 1000))
        return Past(last is not None, now_s - since_s >= SPARE_S, now_s - back_s)

    def _nodes(self) -> dict[str, float]:
        """Returns node -> its last heartbeat, ms since the epoch, for nodes that have not been found dead."""
        with redis_errors():
            rows: Any = self._client.zrange(keys.NODES, 0, -1, withscores=True)
        return {node.decode(): beat_ms for node, beat_ms in rows}

    def _bring_on(self, match_id: str, alive: set[str], past: Past) -> None:
        match = self._orphan(match_id, alive)
        if match is None or match.verdict is not None:
            return
        empty = [seat for seat in match.seats if seat.back_by_s is not None]
        if empty and not past.steady:
            return
        if past.since_gap_s < match.limits.node_grace_s and any(seat.emptied_by is Fault.SERVER for seat in empty):
            # the server was away: until it was back, perhaps nobody could let the bot in
            return
        since_s = self._in_line_since_s(match)
        if since_s is not None:
            self._leave_in_line(match_id, since_s)
            return
        try:
            after = self._conductor.conduct(match, Overdue()).match
        except UnknownMatch:
            self._forget(match_id)
            return
        if after.nudges > match.nudges:
            log.warning("match.nudged", match=match_id, nudges=after.nudges)
            for node in {keys.node_of(seat.place) for seat in after.seats if seat.place is not None}:
                if node == keys.STATELESS:
                    self._send_for(match_id)
                    continue
                self._conductor.store.post(node, nudge(match_id))

    def _in_line_since_s(self, match: Match) -> float | None:
        """Returns when (epoch) the match was sent for, if it awaits only stateless bots and its task busy workers.

        Its turn will come: nobody has failed, however often the match is looked at. Otherwise returns None.
        """
        awaited = self._conductor.registry[match.game].awaited(match.state)
        if any(seat.address is None for seat in match.seats if seat.bot in awaited):
            return None
        with redis_errors():
            sent: Any = self._client.get(keys.sent_for(match.id))
            return float(sent) if sent is not None and self._are_busy(match.id) else None

    def _leave_in_line(self, match_id: str, since_s: float) -> None:
        """Schedules another look, and sends the task again if it has expired."""
        now_s = self._conductor.now_s()
        if now_s - since_s > TASK_S:
            log.warning("match.in_line", match=match_id)
            self._send_for(match_id)
        with redis_errors():
            self._client.zadd(keys.DEADLINES, {match_id: int((now_s + LOOK_S) * 1000)}, xx=True, gt=True)

    def _are_busy(self, match_id: str) -> bool:
        """Returns whether workers ask in other matches and none in this one; the leases of a dead worker expire."""
        found: Any = self._client.zrevrangebyscore(keys.ASKING, "+inf", 0, start=0, num=MOST_LEASES)
        leases = [keys.asking(other.decode()) for other in found]
        return not self._client.exists(keys.asking(match_id)) and bool(leases) and bool(self._client.exists(*leases))

    def _send_for(self, match_id: str) -> None:
        with redis_errors():
            self._client.set(keys.sent_for(match_id), self._conductor.now_s(), ex=SENT_S)
        self._ask_bots(match_id)

    def _orphan(self, match_id: str, alive: set[str]) -> Match | None:
        """Empties a match's seats of nodes that are not alive; returns the match after that, None if it is gone."""
        try:
            match = self._conductor.store.load(match_id)
            for seat in match.seats:
                if seat.place is not None and keys.node_of(seat.place) not in alive:
                    match = self._conductor.conduct(match, Orphaned(seat.bot, seat.place, "node-dead")).match
                    log.warning("match.orphaned", match=match_id, bot=seat.bot)
            return match
        except UnknownMatch:
            self._forget(match_id)
            return None

    def _forget(self, match_id: str) -> None:
        with redis_errors():
            self._client.zrem(keys.DEADLINES, match_id)
