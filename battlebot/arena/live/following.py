"""Follows a match turn by turn from its record: no state is missed, even if play is fast or Redis is away."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.redisio import keys
from battlebot.redisio.bus import Bus, Listener
from battlebot.referee.advance import MARKS, entered
from battlebot.referee.match import Match
from battlebot.referee.replay import states as replayed
from battlebot.referee.telling import seen_by
from battlebot.rules.contract import Game

LOOK_EVERY_S = 2.0  # in case an announcement is lost
TRY_AGAIN_S = 0.5  # while Redis or the archive is away

Record = Mapping[str, Any]
Rows = list[dict[str, Any]]


class Follower:
    """Replays the entries of a match's record as they come.

    `archived(match_id)` returns the stored match, or None; it may raise Unavailable.
    """

    def __init__(
        self, game: Game, store: MatchStore, bus: Bus, archived: Callable[[str], Record | None] = lambda match_id: None
    ) -> None:
        self._game = game
        self._store = store
        self._bus = bus
        self._archived = archived

    def states(
        self, match: Match, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields (what a viewer may see, version) at the match's beginning and after each entry, to its end.

        `match` may be at any version. The game may want a pause (`pause_ms`) before bots are asked, which the caller
        waits out: then the state is yielded again, unless it has changed. If Redis does not answer, following
        continues once it is back. Stops early when `is_wanted` returns False. Raises UnknownMatch if the match is lost.
        """
        first = [seat.bot for seat in match.seats]
        state, version = self._game.initial_state(first, match.seed, match.options), 0
        yield self._seen(state), version
        again = False
        listener: Listener | None = None
        with ExitStack() as stack:
            while is_wanted():
                try:
                    if listener is None:
                        listener = stack.enter_context(self._bus.listen(keys.match_events(match.id)))
                    newest, rows, record = self._look(match.id, version)
                except Unavailable:
                    time.sleep(TRY_AGAIN_S)
                    continue
                if newest is None:
                    yield from self._rest(record, version)
                    return
                for row in rows[: max(0, newest.version - version)]:
                    mark = next((mark for mark in MARKS if row.get(mark)), None)
                    state = entered(self._game, state, row["turn"], mark)
                    version += 1
                    if version < newest.version or newest.verdict is None:
                        yield self._seen(state), version
                if newest.verdict is not None:
                    # also if the match did not end by its rules
                    yield seen_by(self._game, newest, None), newest.version
                    return
                if rows and self._game.pause_ms(state):
                    again = True
                    continue
                if again:
                    again = False
                    yield self._seen(state), version
                listener.get(LOOK_EVERY_S)

    def _look(self, match_id: str, version: int) -> tuple[Match | None, Rows, Record]:
        """Returns (match, entries from `version` on, {}), or (None, [], stored match) if Redis lacks some of them.

        Raises UnknownMatch, Unavailable."""
        try:
            newest = self._store.load(match_id)
            rows = self._store.record(match_id, version)
            if newest.verdict is None or len(rows) >= newest.version - version:
                return newest, rows, {}
        except UnknownMatch:
            newest, rows = None, []
        record = self._archived(match_id)
        if record is not None:
            return None, [], record
        if newest is None:
            raise UnknownMatch(f"There is no match {match_id}.")
        return newest, rows, {}

    def _rest(self, record: Record, version: int) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields what comes after `version` in a stored match, as `states` does."""
        end: int = record["match"]["version"]
        state: dict[str, Any] = {}
        for number, state in enumerate(replayed(self._game, record)):
            if version < number < end:
                yield self._seen(state), number
        verdict = {"victor": record["victor"], "reason": record["reason"]}
        yield self._seen({**state, **verdict, "complete": True, "nextPlayer": None}), end

    def _seen(self, state: dict[str, Any]) -> dict[str, Any]:
        return self._game.view(state, None)
