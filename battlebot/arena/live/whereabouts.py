"""Whether a bot that stays away from its seat is connected elsewhere. Asked only when it is about to be missed."""

from __future__ import annotations

from typing import Any

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import node_of
from battlebot.errors import UnknownMatch, UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors
from battlebot.referee.events import Event, Overdue
from battlebot.referee.match import Fault, Match, Seat


class Whereabouts:
    """Looks for bots in other matches and in other queues than their match's own."""

    def __init__(self, store: MatchStore, heartbeats: Heartbeats) -> None:
        self._store = store
        self._queues = Queues(store.client)
        self._heartbeats = heartbeats

    def informed(self, match: Match, event: Event, now_s: float) -> Event:
        """Returns the event; one by which bots may be missed says which of them are elsewhere. Raises Unavailable.

        That matters only for bots whose seats the server emptied: Redis is not asked about others.
        """
        if not isinstance(event, Overdue) or match.verdict is not None:
            return event
        missed = [
            seat
            for seat in match.seats
            if seat.emptied_by is Fault.SERVER and seat.back_by_s is not None and seat.back_by_s <= now_s
        ]
        elsewhere = [
            seat.bot for seat in missed if self._plays(match, seat, now_s) or self._waits(match, seat.bot, now_s)
        ]
        return Overdue(tuple(elsewhere)) if elsewhere else event

    def _plays(self, match: Match, seat: Seat, now_s: float) -> bool:
        """Returns whether it sits in its newest match, or sat at the end of one that began after the seat was left."""
        with redis_errors():
            newest: Any = self._store.client.get(keys.newest(seat.bot))
        if newest is None or newest.decode() == match.id:
            return False
        try:
            other = self._store.load(newest.decode())
        except (UnknownMatch, UnreadableMatch):
            # that other match must not keep this one from its end
            return False
        sits = other.seat_of(seat.bot)
        if sits is None or sits.place is None:
            return False
        if other.verdict is not None:
            return seat.left_s is not None and other.started_s > seat.left_s
        return self._is_open(sits.place, now_s)

    def _waits(self, match: Match, bot: str, now_s: float) -> bool:
        """Returns whether it waits for another match. Who waits where its seat would be given back has come back."""
        own = keys.queue_name(match.game, match.contest)
        others = (name for name in self._queues.names() if name != own)
        names = [name for name in others if keys.game_and_contest(name)[0] == match.game]
        tickets = [ticket for name in names for ticket in self._queues.tickets(name) if ticket.bot == bot]
        return any(self._is_open(ticket.place, now_s) for ticket in tickets)

    def _is_open(self, place: str, now_s: float) -> bool:
        return self._heartbeats.lived_until_s(node_of(place), now_s) >= now_s
