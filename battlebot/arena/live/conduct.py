"""Applies events to a match: step and commit; on a conflict, load and step again. Tells remote seats by mailbox.

Knows no connections: a node tells its own seats in `host`, a worker has none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from battlebot.arena.live.boards import next_board
from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.emptyseats import EmptySeats
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.letters import Letters, way_round
from battlebot.arena.live.store import Commit, MatchStore
from battlebot.errors import Conflict, Unavailable
from battlebot.redisio import keys
from battlebot.referee import ending
from battlebot.referee.advance import Step
from battlebot.referee.events import Event, Failed, Joined, Left, Orphaned, Overdue, Turned
from battlebot.referee.match import Match, Seat
from battlebot.referee.step import step_all
from battlebot.referee.telling import update_for
from battlebot.rules.contract import Game
from battlebot.runtime import sharedtime
from battlebot.runtime.loglimit import LogLimit

log = structlog.get_logger()

ABOUT_ABSENCE = frozenset({Joined, Overdue})  # events whose answers depend on what Redis knows of empty seats
ABOUT_SEATS = frozenset({Joined, Left, Orphaned})  # by which a match does not go on
BACK_S = 2.0  # in which a node that has lost its connections to Redis reads its mailbox again
LOOK_S = 0.1
# of computing, in which a node does nothing for any other bot
SLOW_S = 0.25

may_tell = LogLimit()


class Draft(msgspec.Struct, frozen=True):
    """An answer to events in `match` that is not committed yet; `commit` is None if there is nothing to commit.

    `follows` is the beginning of the next board of a series, if one follows.
    """

    match: Match
    answer: Step
    commit: Commit | None = None
    follows: Step | None = None


class Conductor:
    """Applies events to matches. `node` is the node whose seats the caller tells itself; "" if it tells none."""

    def __init__(
        self,
        registry: Mapping[str, Game],
        store: MatchStore,
        node: str = "",
        *,
        ask_archive: Callable[[], None],
        ask_bots: Callable[[str], None],
        now_s: Callable[[], float] = sharedtime.now_s,
        open_ago_s: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """`ask_bots(match_id)` requests that the stateless bots that a match waits for are asked.

        Neither it nor `ask_archive()` may raise: they are called when the commit is done. `open_ago_s()`: how long ago
        the node itself could last let bots in, which its next heartbeat will show.
        """
        self.registry = registry
        self.store = store
        self.node = node
        self.heartbeats = Heartbeats(store.client)
        self.now_s = now_s
        self._letters = Letters(node)
        self._empty_seats = EmptySeats(registry, store, self.heartbeats, node, now_s, open_ago_s)
        self.ask_bots = ask_bots
        self._ask_archive = ask_archive

    def conduct(self, match: Match, event: Event, draft: Draft | None = None) -> Step:
        """Answers an event and commits the answer; `match` is the newest that the caller holds.

        `draft`: the answer, if it has been drafted; it may have been committed already without the caller knowing. The
        next board of a series begins with the same commit; its bots are told of it after the end of this one. Raises
        UnknownMatch if Redis has lost the match, Unavailable if it does not answer: the commit may still have been
        made.
        """
        return self.conduct_all(match, [event], draft)

    def conduct_all(self, match: Match, events: Sequence[Event], draft: Draft | None) -> Step:
        """Like `conduct`, for events that came at one moment, in one commit. Seats are told the state after all."""
        first = self._wary_draft if match.wary and match.verdict is None and self.node else self.draft
        draft = draft or first(match, events)
        while draft.commit is not None:
            try:
                ask = self.store.commit(draft.commit)
            except Conflict:
                newest = self.store.reload(match.id)
                if newest.revision < match.revision:
                    log.error("match.set_back", match=match.id, held=match.revision, found=newest.revision)
                    events = [Failed("Redis has lost turns that had been acknowledged")]
                events = [_came_at(match.version, event) for event in events]
                match = newest
                draft = self.draft(match, events)
            else:
                return self.committed(draft, ask)
        return draft.answer

    def _wary_draft(self, match: Match, events: Sequence[Event]) -> Draft:
        """Like `draft`, in a match in which a node has died: nodes must not go on dying of the same event.

        Who comes back is told if that has happened, but is not suspected: after a node's death many come at once to
        another, which may die of the crowd.
        """
        tries = not ABOUT_SEATS.issuperset(map(type, events))
        before = self.store.begin_try(match.id, self.node) if tries else self.store.tried(match.id)
        if before not in (None, self.node) and self._stays_away(str(before)):
            events = [Failed("the game's code never returned, or ended the server's process, more than once")]
        draft = self.draft(match, events)
        if tries or before == self.node:
            # whoever is at it while this node lives does not take it for dead
            with suppress(Unavailable):
                self.store.end_try(match.id)
        return draft

    def _stays_away(self, node: str) -> bool:
        """Returns whether a node is gone: not if it comes back soon, as when Redis has been restarted."""
        until_s = time.monotonic() + BACK_S
        while self.heartbeats.is_gone(node):
            if time.monotonic() > until_s:
                return True
            time.sleep(LOOK_S)
        return False

    def draft(self, match: Match, events: Sequence[Event]) -> Draft:
        """Returns the answer to events that came at one moment, and what commits it.

        Asks Redis only when a bot comes back or is overdue, and for a number if a board follows. Raises Unavailable.
        """
        now_s, told = self.now_s(), events
        if not ABOUT_ABSENCE.isdisjoint(map(type, events)):
            told = self._empty_seats.told(match, events, now_s)
        if not told:
            return Draft(match, Step(match))
        before_s = time.thread_time()
        answer, turns = step_all(self.registry[match.game], match, told, now_s)
        took_s = time.thread_time() - before_s
        if took_s > SLOW_S and may_tell(("slow", match.game)):
            log.warning("game.slow", match=match.id, game=match.game, ms=round(1000 * took_s))
        if answer.match is match:
            return Draft(match, answer)
        follows = self._follows(answer.match)
        try:
            publications = self._letters.of(match, answer)
            if follows is not None:
                publications += self._letters.of_board_after(match, follows)
                publications.append((keys.game_events(match.game), b"begun"))
            commit = self.store.draft(match, answer.match, turns, publications, follows.match if follows else None)
        except TypeError as error:
            # the game made a state that is not JSON or too large, or made that of the one it was given
            before = match if _is_writable(match) else ending.bare(match)
            if before is match and isinstance(events[0], Failed):
                raise
            log.exception("match.unwritable", match=match.id, game=match.game)
            return self.draft(before, [Failed(str(error))])
        return Draft(match, answer, commit, follows)

    def committed(self, draft: Draft, ask_archive: bool) -> Step:
        """Returns the answer of a committed draft, and does what is due after it. Waits only if a board follows."""
        match, answer, follows = draft.match, draft.answer, draft.follows
        if answer.match.verdict is not None:
            self._log_end(answer)
        if ask_archive:
            self._ask_archive()
        if _asks_anew(self.registry[match.game], match, answer.match):
            self.ask_bots(match.id)
        return answer if follows is None else msgspec.structs.replace(answer, then=self._begun(follows))

    def _follows(self, match: Match) -> Step | None:
        """Returns the beginning of the board that follows a finished match, or None; tells nobody if already lost."""
        if match.verdict is None or not match.goes_on:
            return None
        game, now_s = self.registry[match.game], self.now_s()
        after = next_board(game, match, self.store.next_number(), now_s)
        is_lost = after.due_s is not None and after.due_s <= now_s and not self._empty_seats.is_undecided(after, now_s)
        return Step(after) if is_lost else self._beginning(after)

    def _begun(self, follows: Step) -> Step:
        match = follows.match
        assert match.series is not None
        about = {"match": match.id, "game": match.game, "series": match.series.id, "board": match.series.board}
        log.info("match.begun", **about, players=[seat.bot for seat in match.seats])
        if asked_of(self.registry[match.game], match):
            self.ask_bots(match.id)
        if follows.updates:
            # a question that goes round by another node comes back as a letter
            told = tuple(update for update in follows.updates if way_round(follows, update) is None)
            return msgspec.structs.replace(follows, updates=told)
        answer = self.conduct(match, Overdue())
        # the node may have begun to drain in this moment: then it cannot tell any more whether the board is lost
        return answer if answer.match.verdict is not None else self._beginning(answer.match)

    def _beginning(self, match: Match) -> Step:
        game = self.registry[match.game]
        return Step(match, tuple(update_for(game, match, seat) for seat in match.seats))

    def _log_end(self, answer: Step) -> None:
        match, verdict = answer.match, answer.match.verdict
        assert verdict is not None
        about: dict[str, Any] = {"match": match.id, "game": match.game, "contest": match.contest}
        if answer.failure is not None:
            log.error("match.failed", **about, exc_info=answer.failure)
        log.info(
            "match.ended",
            **about,
            players=[seat.bot for seat in match.seats],
            victor=verdict.victor,
            reason=verdict.reason.value,
            fault=verdict.fault.value,
            evidence=verdict.evidence or None,
            turns=match.version,
        )


def _is_writable(match: Match) -> bool:
    try:
        encode_match(match)
    except TypeError:
        return False
    return True


def _came_at(version: int, event: Event) -> Event:
    """Returns the event; a turn is given the version at which it first arrived, so as not to answer a later one."""
    if isinstance(event, Turned) and event.at is None:
        return msgspec.structs.replace(event, at=version)
    return event


def asked_of(game: Game, match: Match) -> list[Seat]:
    """Returns the seats of stateless bots that the match waits for."""
    if match.verdict is not None or all(seat.address is None for seat in match.seats):
        return []
    awaited = game.awaited(match.state)
    return [seat for seat in match.seats if seat.address is not None and seat.bot in awaited]


def _asks_anew(game: Game, before: Match, after: Match) -> bool:
    """Returns whether a stateless bot is asked something that it was not asked before."""
    asked = asked_of(game, after)
    if not asked:
        return False
    known = {seat.bot: seat.question for seat in before.seats}
    return any(seat.question != known[seat.bot] for seat in asked)
