"""What a match is told before a bot that comes back is charged, or one that stays away is missed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import structlog
from msgspec.structs import replace

from battlebot.arena.live.heartbeats import DoorHistory, Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.whereabouts import Whereabouts
from battlebot.arena.places import door_of
from battlebot.referee.events import Event, Joined, Outage, Overdue, Stranded
from battlebot.referee.match import Fault, Match, Seat
from battlebot.referee.step import step_all
from battlebot.rules.contract import Game

log = structlog.get_logger()

HANGS_S = 60.0  # for how long bots may be sent to a node that hangs after it has been found dead


class EmptySeats:
    """Knows of empty seats what the referee cannot: whether their bots could have come in.

    Every method asks Redis, and raises Unavailable.
    """

    def __init__(
        self,
        registry: Mapping[str, Game],
        store: MatchStore,
        heartbeats: Heartbeats,
        node: str,
        now_s: Callable[[], float],
        open_ago_s: Callable[[], float],
    ) -> None:
        """`node` is the node that asks ("": a worker); `open_ago_s()`: how long ago it could last let bots in."""
        self._registry = registry
        self._node = node
        self._door = door_of(node)
        self._now_s = now_s
        self._open_ago_s = open_ago_s
        self._heartbeats = heartbeats
        self._whereabouts = Whereabouts(store, heartbeats)

    def told(self, match: Match, events: Sequence[Event], now_s: float) -> Sequence[Event]:
        """Returns what the match is told instead of `events`; nothing if no bot can be missed yet.

        The outages of the doors of empty seats come first. The events say which bots are elsewhere, and since when one
        that is back was kept out; none is overdue while it is not known whether an absent bot could have come in time,
        or before it has been told who may have come to a node that hung.
        """
        doors = self._doors(match, now_s)
        outages = _outages(match, doors)
        stranded: list[Stranded] = []
        if any(isinstance(one, Overdue) for one in events):
            after = self._after(match, outages, now_s)
            if self._is_undecided(after, doors, now_s):
                events = [one for one in events if not isinstance(one, Overdue)]
            elif match.verdict is None:
                stranded = [Stranded(seat.bot) for seat in after.seats if _may_hang(seat, doors, now_s)]
                for one in stranded:
                    log.warning("match.stranded", match=match.id, bot=one.bot)
        return [*outages, *stranded, *(self._informed(match, event, outages, now_s) for event in events)]

    def is_undecided(self, match: Match, now_s: float) -> bool:
        """Returns whether the time of an absent bot is over, and it is not proved that it could have come in.

        It could, as one of the next heartbeats will show, or there is an outage, by which the bot's time will move.
        """
        doors = self._doors(match, now_s)
        return self._is_undecided(self._after(match, _outages(match, doors), now_s), doors, now_s)

    def _after(self, match: Match, outages: Sequence[Outage], now_s: float) -> Match:
        return step_all(self._registry[match.game], match, outages, now_s)[0].match if outages else match

    def _is_undecided(self, match: Match, doors: Mapping[str, DoorHistory], now_s: float) -> bool:
        for seat in match.seats if match.verdict is None else ():
            if seat.back_by_s is None or seat.left_place is None or seat.back_by_s > now_s:
                continue
            door = door_of(seat.left_place)
            if doors[door].could_come_in(seat.back_by_s, now_s):
                continue
            if door != self._door:
                return True
            # by the clock of this moment: Redis has been asked since `now_s`
            opened_s = self._now_s() - self._open_ago_s()
            if not doors[door].opened(opened_s).could_come_in(seat.back_by_s, now_s):
                return True
        return False

    def _informed(self, match: Match, event: Event, outages: Sequence[Outage], now_s: float) -> Event:
        """Returns the event; one by which a bot comes back ends its clock when the server first turned it away."""
        if not isinstance(event, Joined):
            return self._whereabouts.informed(match, event, now_s)
        seat = match.seat_of(event.bot)
        lasts = any(outage.lasts and event.bot in (outage.bots or ()) for outage in outages)
        if seat is None or seat.left_s is None or not lasts:
            return event
        tried_s = [came_s for came_s, away_s in event.tried if away_s >= seat.left_s]
        if not tried_s:
            return event
        return replace(event, until_s=min(tried_s if event.until_s is None else [*tried_s, event.until_s]))

    def _doors(self, match: Match, now_s: float) -> dict[str, DoorHistory]:
        """Returns what heartbeats show of the doors of empty seats."""
        seats = match.seats if match.verdict is None else ()
        doors = {door_of(seat.left_place) for seat in seats if seat.left_place is not None}
        return {door: self._heartbeats.shown(door, now_s, self._node) for door in doors}


def _outages(match: Match, doors: Mapping[str, DoorHistory]) -> list[Outage]:
    """Returns the outages of the doors of empty seats, each for the bots that come in there."""
    by_door = defaultdict(list)
    for seat in match.seats:
        if seat.left_place is not None:
            by_door[door_of(seat.left_place)].append(seat.bot)
    return [replace(outage, bots=tuple(by_door[door])) for door, shown in doors.items() for outage in shown.outages]


def _may_hang(seat: Seat, doors: Mapping[str, DoorHistory], now_s: float) -> bool:
    """Returns whether the bot of an empty seat, whose time is over, may have come to a node that hung, and wait there.

    Its balancer may not know for a while that the node hangs.
    """
    if seat.back_by_s is None or seat.back_by_s > now_s or seat.left_s is None or seat.left_place is None:
        return False
    return seat.emptied_by is Fault.NETWORK and doors[door_of(seat.left_place)].hung_s > seat.left_s - HANGS_S
