"""Live matches for viewers: what anybody may see of them, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from battlebot.arena.live.store import MatchStore
from battlebot.errors import UnknownMatch, UnreadableMatch
from battlebot.referee.match import Match
from battlebot.referee.telling import seen_by
from battlebot.rules.contract import Game
from battlebot.runtime.cooperative import cooperatively

MOST_LISTED = 200
MOST_READ = 1000  # of all live matches
MOST_BYTES = 8_000_000  # of their documents: a state may be large, and in memory takes several times as much


class LiveMatches:
    """Reads Redis. Every method raises Unavailable.

    A match that cannot be read, or whose game is not installed, is left out: the sweep tells of it.
    """

    def __init__(self, registry: Mapping[str, Game], store: MatchStore) -> None:
        self._registry = registry
        self._store = store

    def list(self, game: str | None = None, contest: str | None = None) -> list[dict[str, Any]]:
        """Returns live matches of a game and contest (None: of all), as `find`; latest first, at most `MOST_LISTED`.

        Only the latest `MOST_READ` live matches of all games are looked at, and of those with large states only a few.
        """
        latest = sorted(self._store.live_ids(), reverse=True)[:MOST_READ]  # an id begins with the time
        latest = self._store.within(latest, MOST_BYTES)
        matches = (match for match in self._store.load_many(latest).values() if match.game in self._registry)
        wanted = [match for match in matches if game in (None, match.game) and contest in (None, match.contest)]
        wanted.sort(key=lambda match: match.started_s, reverse=True)
        return [self._described(match) for match in cooperatively(wanted[:MOST_LISTED])]

    def find(self, match_id: str) -> dict[str, Any] | None:
        """`{"id", "game", "contest", "players", "state", "version", "startedAt"}`, or None. `startedAt` in ms."""
        try:
            match = self._store.load(match_id)
        except (UnknownMatch, UnreadableMatch):
            return None
        return self._described(match) if match.game in self._registry else None

    def _described(self, match: Match) -> dict[str, Any]:
        return {
            "id": match.id,
            "game": match.game,
            "contest": match.contest,
            "players": [seat.bot for seat in match.seats],
            "state": seen_by(self._registry[match.game], match, None),
            "version": match.version,
            "startedAt": int(match.started_s * 1000),
        }
