"""Whether the other connection of a bot that came while it plays may be broken: then it must not wait for a match."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, replace
from enum import Enum, auto

from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.places import is_stateless, node_of
from battlebot.errors import UnknownMatch, UnreadableMatch
from battlebot.redisio import keys

HOLD_S = 1.0  # within which a live node notices that a connection is broken


class Judgement(Enum):
    """What a look at a doubt shows."""

    IN_DOUBT = auto()  # the other connection may be broken, or this node cannot read the match
    UNTOLD = auto()  # it is, and the match has ended: the bot does not know how
    NO_DOUBT = auto()  # its node lives, or whether it does no longer matters


@dataclass(frozen=True, slots=True)
class Doubt:
    """A bot that came while it plays `match`: its other connection may be broken, and nobody has noticed it yet.

    At `ended_s` (epoch) the match was first seen to have ended; infinite if it goes on. `beat_s` (epoch) is the first
    heartbeat, at least `HOLD_S` after the bot came, of the other connection's node; or, if none was seen by then, its
    last one at `ended_s`. Another one shows that the node lives. At `unread_s` (epoch) it was first found that this
    node cannot read the match.
    """

    match: str
    beat_s: float | None = None
    ended_s: float = math.inf
    unread_s: float | None = None


class Doubts:
    """Those about the waiting players of one node, by their places.

    `patience_s`: for how long after its match's end a player is held back at most. It may be that nobody finds the node
    dead: no worker runs, or the node's door is shut. `grace_s`: for how long one is whose match this node cannot read;
    longer than its seat is kept for it elsewhere.
    """

    def __init__(self, store: MatchStore, heartbeats: Heartbeats, patience_s: float, grace_s: float) -> None:
        self._store = store
        self._heartbeats = heartbeats
        self._cut_off = CutOff(store.client, heartbeats)
        self._patience_s = patience_s
        self._grace_s = grace_s
        self._doubts: dict[str, Doubt] = {}

    def __contains__(self, place: object) -> bool:
        """Whether the player at the place is held back."""
        return place in self._doubts

    def places(self) -> list[str]:
        """Returns the places of all who are held back."""
        return list(self._doubts)

    def match_of(self, place: str) -> str:
        """Returns the match for which the player at the place is held back. Raises KeyError if it is not."""
        return self._doubts[place].match

    def note(self, place: str, match_id: str) -> None:
        """Holds back the player at a place, whose bot plays this match; what is known of that match is kept."""
        doubt = self._doubts.get(place)
        if doubt is None or doubt.match != match_id:
            self._doubts[place] = Doubt(match_id)

    def dispel(self, place: str) -> None:
        """Holds back the player at the place no more."""
        self._doubts.pop(place, None)

    def forget_all_but(self, places: Container[str]) -> None:
        """Forgets players who wait no more."""
        self._doubts = {place: doubt for place, doubt in self._doubts.items() if place in places}

    def judge(self, player: Player, now_s: float) -> Judgement:
        """Returns whether the bot's other connection may have ended unnoticed, because its node is dead.

        The match's end does not settle it: if the node lives, it tells the bot; if it is dead, nobody did. A contest
        does not miss the bot meanwhile. The player must be one that is held back. Raises Unavailable.
        """
        try:
            match = self._store.load(self._doubts[player.place].match)
        except UnknownMatch:
            return Judgement.NO_DOUBT
        except UnreadableMatch:
            return self._unread(player, now_s)
        seat = match.seat_of(player.bot)
        if seat is None or (seat.place is not None and is_stateless(seat.place)):
            return Judgement.NO_DOUBT
        if match.verdict is None:
            silent = seat.place is not None and self._is_silent(player, self._heartbeats.last_s(node_of(seat.place)))
            return Judgement.IN_DOUBT if silent else Judgement.NO_DOUBT
        if match.goes_on or (match.game, match.contest) != (player.login.game, player.login.contest):
            # what it comes for is not this end, but its seat at the next board, or another match
            return Judgement.NO_DOUBT
        return self._after_the_end(player, seat.place, now_s)

    def _unread(self, player: Player, now_s: float) -> Judgement:
        # whoever plays elsewhere has left its match, and loses; and that it came to this node is no fault of its own
        doubt = self._doubts[player.place]
        if doubt.unread_s is None:
            doubt = self._doubts[player.place] = replace(doubt, unread_s=now_s)
        assert doubt.unread_s is not None
        return Judgement.IN_DOUBT if now_s - doubt.unread_s < self._grace_s else Judgement.NO_DOUBT

    def _after_the_end(self, player: Player, place: str | None, now_s: float) -> Judgement:
        beat_s = 0.0 if place is None else self._heartbeats.last_s(node_of(place))
        if place is None or not beat_s:
            return Judgement.UNTOLD
        doubt = self._doubts[player.place]
        if math.isinf(doubt.ended_s):
            # from now on it has neither a seat nor a ticket
            queue = keys.queue_name(player.login.game, player.login.contest)
            self._cut_off.note(node_of(place), {queue: [player.bot]}, now_s)
            # whether it notices that a connection is broken does not matter any more: if it lives, it tells the end
            doubt = self._doubts[player.place] = replace(doubt, ended_s=now_s, beat_s=doubt.beat_s or beat_s)
        waits_on = self._is_silent(player, beat_s) and now_s - doubt.ended_s < self._patience_s
        return Judgement.IN_DOUBT if waits_on else Judgement.NO_DOUBT

    def _is_silent(self, player: Player, beat_s: float) -> bool:
        """Returns whether a node that last sent a heartbeat at `beat_s` (0: it was found dead) may be dead.

        Two heartbeats show that it lives: after the first, a node that had stalled may be about to notice that a
        connection is broken.
        """
        doubt = self._doubts[player.place]
        if doubt.beat_s is None and beat_s >= player.waiting_since_s + HOLD_S:
            self._doubts[player.place] = replace(doubt, beat_s=beat_s)
        return doubt.beat_s is None or beat_s <= doubt.beat_s
