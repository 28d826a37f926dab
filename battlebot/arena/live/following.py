"""Follows a match turn by turn from its record: no state is missed, even if play is fast or Redis is away.

Of the record and of the match's own state, which may be large, little is in memory at a time: a match may have
hundreds of viewers, who may read slowly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from typing import Any, NamedTuple, Protocol

import msgspec

from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.redisio import keys
from battlebot.redisio.bus import Bus, Listener
from battlebot.referee.advance import MARKS, entered
from battlebot.referee.match import Match, Reason, Verdict
from battlebot.referee.replay import states as replayed
from battlebot.referee.telling import seen_by
from battlebot.rules.contract import Game

LOOK_EVERY_S = 2.0  # in case an announcement is lost
TRY_AGAIN_S = 0.5  # while Redis or the archive is away
ROWS = 64  # entries of a record that are read at a time

Record = Mapping[str, Any]
Rows = list[dict[str, Any]]


class Named(msgspec.Struct, frozen=True):
    """A bot of a match."""

    bot: str


class Origin(msgspec.Struct, frozen=True):
    """What a match is followed from: the part of its document that says how it began. A Match has it all, too."""

    id: str
    game: str
    seats: tuple[Named, ...]
    options: dict[str, Any]
    seed: int


class StoredMatches(Protocol):
    """Where finished matches are stored. Every method raises Unavailable."""

    def head(self, match_id: str) -> dict[str, Any] | None:
        """The match without its turns, or None."""

    def entries(self, match: Record, name: str) -> Iterator[list[Any]]:
        """Yields all `turns` of a match, some at a time; may also raise during the iteration."""


class Ending(msgspec.Struct, frozen=True):
    """The part of a match's document that says how it ended, if it has."""

    version: int
    verdict: Verdict | None = None


class News(NamedTuple):
    """What has come of a match: the next entries of its record, which make some of the `reached` versions.

    `ends`: it is over, and these are its last entries; `last`: what a viewer may see of its end, if that does not
    follow from them. `head`: the match as it is stored, if Redis lacks some of its entries.
    """

    rows: Rows
    reached: int
    ends: bool = False
    last: dict[str, Any] | None = None
    head: Record | None = None


def origin_of(store: MatchStore, match_id: str) -> Origin:
    """Returns how a match that is live or has just ended began. Raises UnknownMatch, UnreadableMatch, Unavailable."""
    return store.part(match_id, Origin)


class Follower:
    """Replays the entries of a match's record as they come, and from the archive what Redis has no more."""

    def __init__(self, game: Game, store: MatchStore, bus: Bus, archive: StoredMatches) -> None:
        self._game = game
        self._store = store
        self._bus = bus
        self._archive = archive

    def states(
        self, match: Match | Origin, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields (what a viewer may see, version) at the match's beginning and after each entry, to its end.

        `match` may be at any version. The game may want a pause (`pause_ms`) before bots are asked, which the caller
        waits out: then the state is yielded again, unless it has changed. If Redis does not answer, following
        continues once it is back. Stops early when `is_wanted`, called before each look, returns False.
        Raises UnknownMatch if the match is lost.
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
                    news = self._news(match.id, version)
                    if news.head is not None:
                        for seen, reached in self._rest(news.head, version):
                            version = reached
                            yield seen, version
                        return
                except Unavailable:
                    time.sleep(TRY_AGAIN_S)
                    continue
                for row in news.rows:
                    mark = next((mark for mark in MARKS if row.get(mark)), None)
                    state = entered(self._game, state, row["turn"], mark)
                    version += 1
                    if news.last is None or version < news.reached:
                        yield self._seen(state), version
                if news.last is not None:
                    yield news.last, version
                if news.ends:
                    return
                if version < news.reached:
                    continue
                if news.rows and self._game.pause_ms(state):
                    again = True
                    continue
                if again:
                    again = False
                    yield self._seen(state), version
                # what has been told need not be kept while nothing happens
                del news
                listener.get(LOOK_EVERY_S)

    def _news(self, match_id: str, version: int) -> News:
        """Raises UnknownMatch, Unavailable."""
        try:
            is_over, count, rows = self._store.progress(match_id, version, ROWS)
            if not is_over or version + len(rows) < count:
                return News(rows, count)
            ending = self._store.part(match_id, Ending)
            if ending.version == count and ending.verdict is not None:
                last = None
                if ending.verdict.reason is not Reason.COMPLETE:
                    last = seen_by(self._game, self._store.load(match_id), None)
                return News(rows, count, True, last)
            is_there = True
        except UnknownMatch:
            is_there = False
        head = self._archive.head(match_id)
        if head is not None:
            return News([], version, head=head)
        if not is_there:
            raise UnknownMatch(f"There is no match {match_id}.")
        # its record is lost, and it is not archived yet
        return News([], version)

    def _rest(self, head: Record, version: int) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields what comes after `version` in a stored match, as `states` does. Raises Unavailable."""
        end: int = head["match"]["version"]
        record = {**head, "turns": chain.from_iterable(self._archive.entries(head, "turns"))}
        state: dict[str, Any] = {}
        for number, state in enumerate(replayed(self._game, record)):
            if version < number < end:
                yield self._seen(state), number
        verdict = {"victor": head["victor"], "reason": head["reason"]}
        yield self._seen({**state, **verdict, "complete": True, "nextPlayer": None}), end

    def _seen(self, state: dict[str, Any]) -> dict[str, Any]:
        return self._game.view(state, None)
