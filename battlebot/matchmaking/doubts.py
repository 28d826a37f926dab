"""Whether the other connection of a bot that came while it plays may be broken: then it must not wait for a match."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.places import is_stateless, node_of
from battlebot.errors import UnknownMatch, UnreadableMatch

HOLD_S = 1.0  # within which a live node notices that a connection is broken


@dataclass(frozen=True, slots=True)
class Doubt:
    """A bot that came while it plays `match`: its other connection may be broken, and nobody has noticed it yet.

    `beat_s` (epoch) is the first heartbeat, at least `HOLD_S` after the bot came, of the other connection's node.
    """

    match: str
    beat_s: float | None = None


class Doubts:
    """Those about the waiting players of one node, by their places."""

    def __init__(self, store: MatchStore, heartbeats: Heartbeats) -> None:
        self._store = store
        self._heartbeats = heartbeats
        self._doubts: dict[str, Doubt] = {}

    def __contains__(self, place: object) -> bool:
        """Whether the player at the place is held back."""
        return place in self._doubts

    def places(self) -> list[str]:
        """Returns the places of all who are held back."""
        return list(self._doubts)

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

    def may_be_broken(self, player: Player) -> bool:
        """Returns whether the bot's other connection may have ended unnoticed, because its node is dead.

        Two heartbeats show that the node lives: after the first, a node that had stalled may be about to notice.
        The player must be one that is held back. Raises Unavailable.
        """
        doubt = self._doubts[player.place]
        try:
            seat = self._store.load(doubt.match).seat_of(player.bot)
        except (UnknownMatch, UnreadableMatch):
            return False
        if seat is None or seat.place is None or is_stateless(seat.place):
            return False
        beat_s = self._heartbeats.last_s(node_of(seat.place))
        if doubt.beat_s is None and beat_s >= player.waiting_since_s + HOLD_S:
            self._doubts[player.place] = replace(doubt, beat_s=beat_s)
        return doubt.beat_s is None or beat_s <= doubt.beat_s
