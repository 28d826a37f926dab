"""Finds what nobody noticed: nodes that died, matches that are overdue. Runs in a worker, every second."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from functools import partial

import structlog

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.cutoff import LONGEST_S, CutOff
from battlebot.arena.live.heartbeats import LIVES_S, SHUT_S
from battlebot.arena.live.mail import nudge
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.seats import Seating, seatings
from battlebot.arena.live.steadiness import SPARE_S, Steadiness
from battlebot.arena.live.summons import Summons
from battlebot.arena.live.troubles import Troubles
from battlebot.arena.places import STATELESS, door_of, node_of
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors
from battlebot.referee.events import NODE_DEAD, Orphaned, Overdue
from battlebot.referee.match import Match

log = structlog.get_logger()


class Sweeper:
    """Sweeps all live matches, each by itself. Every method raises Unavailable.

    Its clock is the conductor's, read once, before a sweep looks at anything: a sweep that stalls takes up nothing that
    became overdue meanwhile. Heartbeats and deadlines are moments of the time that all processes share
    (`runtime/sharedtime.py`); only the leases on asking are on the clock of Redis itself, and compared in `Summons`.
    """

    def __init__(self, conductor: Conductor, queues: Queues, node_timeout_s: float, every_s: float) -> None:
        self._conductor = conductor
        self._store = conductor.store
        self._client = conductor.store.client
        self._heartbeats = conductor.heartbeats
        self._cut_off = CutOff(self._client, self._heartbeats)
        self._steadiness = Steadiness(self._client, every_s)
        self._queues = queues
        self._summons = Summons(conductor.registry, conductor.store, conductor.ask_bots)
        self._troubles = Troubles(conductor.store)
        self._node_timeout_s = node_timeout_s
        self._gap_s = max(node_timeout_s, 3 * every_s)

    def sweep(self) -> int:
        """Empties the seats of dead nodes, with a grace, and brings overdue matches on; returns how many of these."""
        now_s = self._conductor.now_s()
        spare_s = self._steadiness.note(now_s)
        self._troubles.recall(now_s)
        beats = self._heartbeats.all()
        recent = {node for node, beat_s in beats.items() if beat_s >= now_s - self._node_timeout_s}
        dead = self._dead(beats, recent, now_s)
        living = beats.keys() - dead | {STATELESS}
        seated = self._note_cut_off(_about_to_go(beats, now_s) | dead, now_s)
        for node in dead:
            log.warning("node.dead", node=node)
            self._queues.drop_node(node)
        if dead:
            self._note_hung({node: beats[node] for node in dead}, now_s)
            for match_id in self._store.live_ids():
                # one that is not among them cannot be read, or began since, with tickets taken before they were dropped
                if match_id not in seated or not seated[match_id].nodes <= living:
                    self._alone(match_id, now_s, partial(self._orphan, match_id, living, now_s))
            for node in dead:
                if self._is_silent(node, now_s):
                    with redis_errors():
                        self._client.zrem(keys.NODES, node)
        self._summons.replace_dead()
        there = recent | {STATELESS}
        # a match's own nodes go first
        overdue = self._store.overdue_ids(now_s - SPARE_S)
        for match_id in overdue:
            if self._alone(match_id, now_s, partial(self._bring_on, match_id, living, there, spare_s, now_s)):
                self._troubles.over(match_id)
        with redis_errors():
            self._client.set(keys.SWEPT, "1", px=int(self._gap_s * 1000))
        return len(overdue)

    def _alone(self, match_id: str, now_s: float, look: Callable[[], object]) -> bool:
        """Looks at a match by itself; returns whether it could be looked after: if not, the others are all the same."""
        try:
            look()
        except Unavailable:
            raise
        except Exception as error:
            self._troubles.note(match_id, error, now_s)
            return False
        return True

    def _dead(self, beats: Mapping[str, float], recent: Set[str], now_s: float) -> set[str]:
        """Returns the nodes that are silent while others of their door are not, or where nobody opens the door again.

        While all are silent, or were a moment ago, the heartbeats even of live nodes are old.
        """
        doors = {door_of(node) for node in recent}
        # a moment in the future is one of a clock that has been set back
        back = {door for door in doors if not 0 <= now_s - self._heartbeats.since_s(door) < SPARE_S}
        silent = beats.keys() - recent
        return {node for node in silent if door_of(node) in back or now_s - beats[node] > SHUT_S}

    def _note_hung(self, dead: Mapping[str, float], now_s: float) -> None:
        """Notes that bots may have come to these nodes while they hung, if the door was open at another one meanwhile.

        If it was shut everywhere, that is an outage. Whoever was at a node that has ended knows that, and nobody comes
        to one that stops.
        """
        for door in {door_of(node) for node in dead}:
            shown = self._heartbeats.shown(door, now_s)
            shut_until_s = max((outage.until_s for outage in shown.outages), default=0.0)
            beats_s = [
                beat_s for node, beat_s in dead.items() if door_of(node) == door and not self._heartbeats.is_shut(node)
            ]
            if any(shut_until_s < beat_s < (shown.open_s or 0.0) for beat_s in beats_s):
                self._heartbeats.hung(door, now_s)

    def _note_cut_off(self, nodes: Set[str], now_s: float) -> dict[str, Seating]:
        """Notes who waits or sits at these nodes; returns match -> who sits in it, of all live ones if there are any.

        All is read once, however many nodes there are.
        """
        if not nodes:
            return {}
        there = {node: defaultdict[str, set[str]](set) for node in nodes}
        waiting = self._queues.everybody()
        seated = seatings(self._store, self._store.live_ids())
        places = [(queue, one.bot, one.place) for queue, tickets in waiting.items() for one in tickets]
        places += [(match.queue, bot, place) for match in seated.values() for bot, place in match.places]
        for queue, bot, place in places:
            if (node := node_of(place)) in there:
                there[node][queue].add(bot)
        for node, bots in there.items():
            self._cut_off.note(node, bots, now_s)
        return seated

    def _is_silent(self, node: str, now_s: float) -> bool:
        """Returns whether the node is still silent: this sweep may have taken long, and new nodes begun."""
        return self._heartbeats.last_s(node) < now_s - self._node_timeout_s

    def _bring_on(self, match_id: str, living: set[str], there: set[str], spare_s: float, now_s: float) -> None:
        match = self._orphan(match_id, living, now_s)
        if match is None or match.due_s is None:
            return
        if any(seat.place is not None and node_of(seat.place) not in there for seat in match.seats):
            # nobody is there to be nudged
            return
        absent = any(seat.back_by_s is not None for seat in match.seats)
        if absent and match.due_s > now_s - spare_s:
            return
        if not absent and self._summons.is_left_to_workers(match, now_s):
            return
        try:
            after = self._conductor.conduct(match, Overdue()).match
        except UnknownMatch:
            self._forget(match_id)
            return
        if after.nudges > match.nudges:
            self._nudge(after, now_s)

    def _nudge(self, match: Match, now_s: float) -> None:
        """Has those look after the match who hold a seat of it: its nodes, and for stateless bots a worker."""
        log.warning("match.nudged", match=match.id, nudges=match.nudges)
        for node in {node_of(seat.place) for seat in match.seats if seat.place is not None}:
            if node == STATELESS:
                self._summons.send(match.id, now_s)
            else:
                self._store.post(node, nudge(match.id))

    def _orphan(self, match_id: str, living: set[str], now_s: float) -> Match | None:
        """Empties a match's seats of nodes that do not live; returns the match after that, None if it is gone."""
        try:
            match = self._store.load(match_id)
            for seat in match.seats:
                node = None if seat.place is None else node_of(seat.place)
                if node is None or node in living or not self._is_silent(node, now_s):
                    continue
                assert seat.place is not None
                self._cut_off.note(node, {keys.queue_name(match.game, match.contest): [seat.bot]}, now_s)
                match = self._conductor.conduct(match, Orphaned(seat.bot, seat.place, NODE_DEAD)).match
                log.warning("match.orphaned", match=match_id, bot=seat.bot)
                # a node that lives all the same takes the seat back
                self._store.post(node, nudge(match_id))
            return match
        except UnknownMatch:
            self._forget(match_id)
            return None

    def _forget(self, match_id: str) -> None:
        with redis_errors():
            self._client.zrem(keys.DEADLINES, match_id)


def _about_to_go(beats: Mapping[str, float], now_s: float) -> set[str]:
    """Returns the nodes that are silent, but not for long: their bots' matches may end before they count as dead.

    Such a bot has neither ticket nor seat any more when its node is found dead. But a node that is not found dead for
    so long is one of a shut door, at which no contest misses anybody anyway: it may stay silent for a day.
    """
    return {node for node, beat_s in beats.items() if LIVES_S < now_s - beat_s <= LONGEST_S}
