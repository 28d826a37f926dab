"""Follows a live match turn by turn from its record: no state is missed, however fast it is played."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from battlebot.arena import keys
from battlebot.arena.bus import Bus
from battlebot.arena.store import MatchStore
from battlebot.referee.advance import MARKS, entered
from battlebot.referee.match import Match
from battlebot.referee.step import seen_by
from battlebot.rules.contract import Game

LOOK_EVERY_S = 2.0  # should an announcement be lost


class Follower:
    """Plays the entries of a match's record after, as they come."""

    def __init__(self, game: Game, store: MatchStore, bus: Bus) -> None:
        self._game = game
        self._store = store
        self._bus = bus

    def states(self, match: Match) -> Iterator[tuple[dict[str, Any], int]]:
        """(what a viewer may see, version) after each entry, from the match's beginning to its end.

        `match` is it at any moment. Before bots are asked the game may want a pause, which is for whoever follows to
        wait out: the state comes again, unless it has been changed. Raises UnknownMatch if it is lost, Unavailable.
        """
        first = [seat.bot for seat in match.seats]
        state, version = self._game.initial_state(first, match.seed, match.options), 0
        yield self._seen(state), version
        again = False
        with self._bus.listen(keys.match_events(match.id)) as listener:
            while True:
                newest = self._store.load(match.id)
                rows = self._store.record(match.id, version)
                for row in rows[: newest.version - version]:
                    mark = next((mark for mark in MARKS if row.get(mark)), None)
                    state = entered(self._game, state, row["turn"], mark)
                    version += 1
                    if version < newest.version or newest.verdict is None:
                        yield self._seen(state), version
                if newest.verdict is not None:
                    # also where it ended otherwise than by its rules, or its record is in the archive by now
                    yield seen_by(self._game, newest, None), newest.version
                    return
                if rows and self._game.pause_ms(state):
                    again = True
                    continue
                if again:
                    again = False
                    yield self._seen(state), version
                listener.get(LOOK_EVERY_S)

    def _seen(self, state: dict[str, Any]) -> dict[str, Any]:
        return self._game.view(state, None)
