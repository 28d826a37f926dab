"""Applies events to a match: step and commit; on a conflict, load and step again. Tells remote seats by mailbox.

Knows no connections: a node tells its own seats in `host`, a worker has none.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import structlog

from battlebot.arena.live.boards import next_board
from battlebot.arena.live.calls import Publication, encode_match
from battlebot.arena.live.heartbeats import Heartbeats, Shown
from battlebot.arena.live.keptout import KeptOut
from battlebot.arena.live.mail import Mail, eviction
from battlebot.arena.live.store import Commit, MatchStore
from battlebot.arena.live.whereabouts import Whereabouts
from battlebot.errors import Conflict
from battlebot.redisio import keys
from battlebot.referee.advance import Step
from battlebot.referee.events import Event, Failed, Joined, Outage, Overdue, Turned
from battlebot.referee.match import Match, Seat
from battlebot.referee.step import step
from battlebot.referee.telling import update_for
from battlebot.rules.contract import Game

log = structlog.get_logger()


class Draft(NamedTuple):
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
        ask_archive: Callable[[], None] = lambda: None,
        now_s: Callable[[], float] = time.time,
        ask_bots: Callable[[str], None] = lambda match_id: None,
        open_ago_s: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """`ask_bots(match_id)` requests that the stateless bots that a match waits for are asked.

        Neither it nor `ask_archive()` may raise: they are called when the commit is done. `open_ago_s()`: how long ago
        the node itself could last let bots in, which its next heartbeat will show.
        """
        self.registry = registry
        self.store = store
        self.node = node
        # prefixes of places that get no letters: this node's own, and those of stateless bots
        self._silent = (f"{node}/", f"{keys.STATELESS}/")
        self.now_s = now_s
        self._heartbeats = Heartbeats(store.client)
        self.kept_out = KeptOut(store.client)
        self._whereabouts = Whereabouts(store)
        self._ask_archive = ask_archive
        self._ask_bots = ask_bots
        self._open_ago_s = open_ago_s

    def conduct(self, match: Match, event: Event, draft: Draft | None = None) -> Step:
        """Answers an event and commits the answer; `match` is the newest that the caller holds.

        `draft`: the answer, if it has been drafted; it may have been committed already without the caller knowing. The
        next board of a series begins with the same commit; its bots are told of it after the end of this one. Raises
        UnknownMatch if Redis has lost the match, Unavailable if it does not answer: the commit may still have been
        made.
        """
        return self.conduct_all(match, [event], draft)

    def conduct_all(self, match: Match, events: Sequence[Event], draft: Draft | None = None) -> Step:
        """Like `conduct`, for events that came at one moment, in one commit. Seats are told the state after all."""
        draft = draft or self.draft(match, events)
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

    def draft(self, match: Match, events: Sequence[Event]) -> Draft:
        """Returns the answer to events that came at one moment, and what commits it.

        Asks Redis only when a bot comes back or is overdue, and for a number if a board follows. Raises Unavailable.
        """
        now_s, told = self.now_s(), events
        if any(isinstance(one, Joined | Overdue) for one in events):
            told = self._told(match, events, now_s)
        if not told:
            return Draft(match, Step(match))
        answer, turns = self._stepped(self.registry[match.game], match, told, now_s)
        if answer.match is match:
            return Draft(match, answer)
        follows = self._follows(answer.match)
        try:
            publications = self._publications(match, answer)
            if follows is not None:
                publications += [*self._letters(follows), (keys.game_events(match.game), b"begun")]
            commit = self.store.draft(match, answer.match, turns, publications, follows.match if follows else None)
        except TypeError as error:
            if isinstance(events[0], Failed):
                raise
            # the game made a state that is not JSON
            log.exception("match.unwritable", match=match.id, game=match.game)
            return self.draft(match, [Failed(str(error))])
        return Draft(match, answer, commit, follows)

    def _told(self, match: Match, events: Sequence[Event], now_s: float) -> Sequence[Event]:
        """Returns what the match is told before a bot that comes back is charged, or an absent one missed.

        The outages of the doors of empty seats come first. The events say which bots are elsewhere, and since when one
        that is back was kept out; none is overdue while it is not known whether an absent bot could have come in time.
        """
        doors = self._doors(match, now_s)
        outages = _outages(match, doors)
        if any(isinstance(one, Overdue) for one in events) and self._is_undecided(match, doors, now_s):
            events = [one for one in events if not isinstance(one, Overdue)]
        return [*outages, *(self._informed(match, event, outages, now_s) for event in events)]

    def _informed(self, match: Match, event: Event, outages: Sequence[Outage], now_s: float) -> Event:
        """Returns the event; one by which a bot comes back ends its clock when the server first turned it away."""
        if not isinstance(event, Joined):
            return self._whereabouts.informed(match, event, now_s)
        seat = match.seat_of(event.bot)
        lasts = any(outage.lasts and event.bot in (outage.bots or ()) for outage in outages)
        if seat is None or seat.left_s is None or not lasts:
            return event
        since_s = self.kept_out.since_s(event.bot, seat.left_s)
        if since_s is None:
            return event
        return msgspec.structs.replace(event, until_s=since_s if event.until_s is None else min(since_s, event.until_s))

    def _doors(self, match: Match, now_s: float) -> dict[str, Shown]:
        """Returns what heartbeats show of the doors of empty seats. Raises Unavailable."""
        seats = match.seats if match.verdict is None else ()
        doors = {keys.door_of(seat.left_place) for seat in seats if seat.left_place is not None}
        return {door: self._heartbeats.shown(door, now_s) for door in doors}

    def _is_undecided(self, match: Match, doors: Mapping[str, Shown], now_s: float) -> bool:
        """Returns whether the time of an absent bot is over, and its door was not seen to be open at its end or later.

        It was, as the next heartbeat will show, or there is an outage, by which the bot's time will move.
        """
        outages = _outages(match, doors)
        if outages:
            match = self._stepped(self.registry[match.game], match, outages, now_s)[0].match
        for seat in match.seats if match.verdict is None else ():
            if seat.back_by_s is None or seat.left_place is None or seat.back_by_s > now_s:
                continue
            door = keys.door_of(seat.left_place)
            if doors[door].was_open_after(seat.back_by_s, now_s):
                continue
            # by the clock of this moment: Redis has been asked since `now_s`
            if door != keys.door_of(self.node) or self.now_s() - self._open_ago_s() < seat.back_by_s:
                return True
        return False

    def committed(self, draft: Draft, ask_archive: bool) -> Step:
        """Returns the answer of a committed draft, and does what is due after it. Waits only if a board follows."""
        match, answer, follows = draft.match, draft.answer, draft.follows
        if answer.match.verdict is not None:
            self._log_end(answer)
        if ask_archive:
            self._ask_archive()
        if _asks_anew(self.registry[match.game], match, answer.match):
            self._ask_bots(match.id)
        return answer if follows is None else msgspec.structs.replace(answer, then=self._begun(follows))

    def _stepped(
        self, game: Game, match: Match, events: Sequence[Event], now_s: float
    ) -> tuple[Step, list[dict[str, Any]]]:
        """Returns the answer to all events, as if to one: one new revision, one update per seat; and the turns."""
        answer = step(game, match, events[0], now_s)
        turns = [] if answer.recorded is None else [answer.recorded]
        for event in events[1:]:
            before = answer.match
            if before is not match:
                before = msgspec.structs.replace(before, revision=match.revision)
            after = step(game, before, event, now_s)
            if after.match is before and before is not match:
                continue
            told = {update.bot: update for update in (*answer.updates, *after.updates)}
            answer = msgspec.structs.replace(after, updates=tuple(told.values()))
            turns += [] if after.recorded is None else [after.recorded]
        return answer, turns

    def _follows(self, match: Match) -> Step | None:
        """Returns the beginning of the board that follows a finished match, or None; tells nobody if already lost."""
        if match.verdict is None or not match.goes_on:
            return None
        game, now_s = self.registry[match.game], self.now_s()
        after = next_board(game, match, self.store.next_number(), now_s)
        assert after.due_s is not None
        is_lost = after.due_s <= now_s and not self._is_undecided(after, self._doors(after, now_s), now_s)
        return Step(after) if is_lost else self._beginning(after)

    def _begun(self, follows: Step) -> Step:
        match = follows.match
        assert match.series is not None
        about = {"match": match.id, "game": match.game, "series": match.series.id, "board": match.series.board}
        log.info("match.begun", **about, players=[seat.bot for seat in match.seats])
        if follows.updates:
            return follows
        answer = self.conduct(match, Overdue())
        # the node may have begun to drain in this moment: then it cannot tell any more whether the board is lost
        return answer if answer.match.verdict is not None else self._beginning(answer.match)

    def _beginning(self, match: Match) -> Step:
        game = self.registry[match.game]
        return Step(match, tuple(update_for(game, match, seat) for seat in match.seats))

    def _publications(self, before: Match, answer: Step) -> list[Publication]:
        """Returns what is published with the commit to the other nodes' seats and to viewers."""
        match = answer.match
        publications = self._letters(answer)
        for old, new in zip(before.seats, match.seats, strict=True):
            if old.place == new.place or old.address is not None:
                continue
            if old.place is not None and new.place is not None:
                publications.append((keys.mailbox(keys.node_of(old.place)), eviction(old.place)))
        publications.append((keys.match_events(match.id), str(match.revision).encode()))
        return publications

    def _letters(self, answer: Step) -> list[Publication]:
        """Returns the updates for the seats of other nodes, as letters."""
        letters: list[Publication] = []
        document = b""
        for update in answer.updates:
            place = update.place
            if place is not None and not place.startswith(self._silent):
                document = document or encode_match(answer.match)
                mail = Mail.of(place, update, document)
                letters.append((keys.mailbox(keys.node_of(place)), mail.encode()))
        return letters

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


def _outages(match: Match, doors: Mapping[str, Shown]) -> list[Outage]:
    """Returns the outages of the doors of empty seats, each for the bots that come in there."""
    by_door = defaultdict(list)
    for seat in match.seats:
        if seat.left_place is not None:
            by_door[keys.door_of(seat.left_place)].append(seat.bot)
    return [
        msgspec.structs.replace(outage, bots=tuple(by_door[door]))
        for door, shown in doors.items()
        for outage in shown.outages
    ]


def _came_at(version: int, event: Event) -> Event:
    """Returns the event; a turn is given the version at which it first arrived, so as not to answer a later one."""
    if isinstance(event, Turned) and event.at is None:
        return msgspec.structs.replace(event, at=version)
    return event


def asked_of(game: Game, match: Match) -> list[Seat]:
    """Returns the seats of stateless bots that the match waits for."""
    stateless = [seat for seat in match.seats if seat.address is not None]
    if not stateless or match.verdict is not None:
        return []
    awaited = game.awaited(match.state)
    return [seat for seat in stateless if seat.bot in awaited]


def _asks_anew(game: Game, before: Match, after: Match) -> bool:
    """Returns whether a stateless bot is asked something that it was not asked before."""
    asked = asked_of(game, after)
    if not asked:
        return False
    known = {seat.bot: seat.question for seat in before.seats}
    return any(seat.question != known[seat.bot] for seat in asked)
