"""Asks the stateless bots of a match while it waits for nobody else; one stretch per task.

Runs on greenlets in a worker. The commit decides which answer counts, so a question that is put twice is harmless.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import gevent
import structlog
from msgspec.structs import replace

from battlebot.arena.live.conduct import Conductor, asked_of
from battlebot.arena.live.leases import Lease, Leases
from battlebot.arena.live.questions import content_of, failed, gave_up, is_turn, turned
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.referee.advance import Step, asked_from_s
from battlebot.referee.events import Event, GaveUp
from battlebot.referee.match import Match, Seat
from battlebot.rules.contract import RAISED, Game
from battlebot.stateless.asking import Askers, Failure, Question, Reply
from battlebot.stateless.health import Health
from battlebot.stateless.pace import Pace
from battlebot.stateless.unrated import Unrated

log = structlog.get_logger()

Made = TypeVar("Made")

LONGEST_S = 30.0  # then other matches are served: there may be more of them than a worker has greenlets
SHARED_S = 3.0  # the same for unrated matches while others are in line
AGAIN_S = 0.5  # between two looks whether what a match waits for is still away
TROUBLE_PAUSE_S = 1.0
MOST_TROUBLES = 5  # consecutive failures of our own before the match is left to the sweep
FINISHING_S = 1.0  # for answers under way when the worker is stopped


class Outcome(NamedTuple):
    """What came of a stretch: how many answers were committed, whether another must follow, the addresses not asked.

    Those cannot be reached for now, as what they are asked through is away. `waits`: it has not begun, and is in line.
    """

    done: int
    unfinished: bool = False
    away: Sequence[str] = ()
    waits: bool = False


class Stretches:
    """`ask_again(match_id)` sends the task for another stretch, `attend()` the attendance task; they do not raise.

    `most_unrated`: in how many unrated matches bots are asked at a time.
    """

    def __init__(
        self,
        conductor: Conductor,
        askers: Askers,
        leases: Leases,
        health: Health,
        ask_again: Callable[[str], None],
        attend: Callable[[], None],
        most_unrated: int,
    ) -> None:
        self._conductor = conductor
        self._askers = askers
        self._leases = leases
        self._health = health
        self._ask_again = ask_again
        self._attend = attend
        self._unrated = Unrated(most_unrated)
        self._pace = Pace()
        self._stopping = False
        self._asked: set[gevent.Greenlet] = set()

    def stop(self) -> None:
        """Stops asking; every match is given back, after `FINISHING_S` at the latest."""
        self._stopping = True
        self._pace.stop()
        for lease in self._unrated.give_up():
            gevent.spawn(self._resume, lease)
        gevent.spawn_later(FINISHING_S, lambda: gevent.killall(list(self._asked), block=False))

    def conduct(self, match_id: str) -> int:
        """Conducts one stretch of a match; returns how many answers were committed. Raises Unavailable.

        Puts an unrated match in line if there are too many of them.
        """
        lease = self._leases.take(match_id)
        return 0 if lease is None else self._stretch(lease)

    def _stretch(self, lease: Lease, has_place: bool = False) -> int:
        outcome = Outcome(0)
        try:
            match = self._conductor.store.load(lease.match_id)
            has_place = has_place or (not match.rated and self._unrated.enter(lease))
            outcome = self._conduct(lease, match) if match.rated or has_place else Outcome(0, waits=True)
        except UnknownMatch:
            log.info("match.asked_in_vain", match=lease.match_id)
        finally:
            if has_place and (following := self._unrated.leave()) is not None:
                gevent.spawn(self._resume, following)
            if outcome.away:
                gevent.spawn(self._put_off, lease, outcome.away)
            elif not outcome.waits:
                self._give_back(lease, outcome.unfinished)
        return outcome.done

    def _resume(self, lease: Lease) -> None:
        """Conducts a stretch of an unrated match that was in line and has a place now."""
        try:
            self._stretch(lease, has_place=True)
        except Unavailable as error:
            # the sweep will find the match
            log.warning("bots.asking_put_off", match=lease.match_id, error=str(error))

    def _give_back(self, lease: Lease, unfinished: bool) -> None:
        """Releases the lease, and asks for another stretch if one must follow. Raises Unavailable."""
        came = self._leases.release(lease)
        if unfinished or came:
            self._ask_again(lease.match_id)

    def _put_off(self, lease: Lease, addresses: Sequence[str]) -> None:
        """Keeps the lease until the addresses can be asked again, or `LONGEST_S`: another worker may reach them.

        Meanwhile the worker asks in other matches, and the sweep finds that this one is looked after.
        """
        until_s = time.monotonic() + LONGEST_S
        waits = True
        while waits:
            gevent.sleep(AGAIN_S)
            waits = any(map(self._askers.is_away, addresses)) and time.monotonic() < until_s
            waits = waits and not (self._stopping or lease.lost)
        try:
            self._give_back(lease, not lease.lost)
        except Unavailable as error:
            # the sweep will find the match
            log.warning("bots.asking_put_off", match=lease.match_id, error=str(error))

    def _conduct(self, lease: Lease, match: Match) -> Outcome:
        game = self._conductor.registry[match.game]
        begun_s, done, troubles = time.monotonic(), 0, 0
        while not lease.lost and (seats := self._to_ask(game, match)):
            until_s = begun_s + (SHARED_S if self._unrated.are_sought and not match.rated else LONGEST_S)
            if self._stopping or time.monotonic() > until_s:
                return Outcome(done, unfinished=True)
            if asked_from_s(game, match) > self._conductor.now_s():
                if not self._paused(game, match, lease, until_s):
                    return Outcome(done, unfinished=True)
                # its options may have been changed meanwhile
                match = self._conductor.store.load(match.id)
                continue
            events, away = self._answers(game, match, seats)
            if lease.lost:
                return Outcome(done)
            before = match
            if events:
                draft = self._computed(match, partial(self._conductor.draft, match, events))
                match = self._done(game, self._conductor.conduct_all(match, events, draft))
                done += len(events)
                if match.verdict is not None and match.contest is not None:
                    # its bots may have other meetings
                    self._attend()
            if away:
                return Outcome(done, unfinished=True, away=away)
            if match is not before:
                troubles = 0
            if match is before or len(events) < len(seats):
                troubles += 1
                if troubles > MOST_TROUBLES:
                    log.error("match.asking_given_up", match=match.id)
                    return Outcome(done)
                if self._stopping:
                    return Outcome(done, unfinished=True)
                gevent.sleep(TROUBLE_PAUSE_S)
                match = self._conductor.store.load(match.id)
        return Outcome(done)

    def _to_ask(self, game: Game, match: Match) -> list[Seat]:
        """Returns the seats to be asked; none if the game's code fails, by which the match is over.

        That another version of its game began the match is enough.
        """
        try:
            asked_from_s(game, match)
            return asked_of(game, match)
        except RAISED as error:
            self._done(game, self._conductor.conduct(match, failed(error)))
            return []

    def _done(self, game: Game, answer: Step) -> Match:
        """Returns the match as it was committed; asks for a stretch of the board that follows, if it awaits one."""
        if answer.then is not None and asked_of(game, answer.then.match):
            self._ask_again(answer.then.match.id)
        return answer.match

    def _paused(self, game: Game, match: Match, lease: Lease, until_s: float) -> bool:
        """Waits until viewers have seen what happened; returns False if the stretch must end before that.

        A pause may be longer than a task is allowed to take.
        """
        begins_s = asked_from_s(game, match)
        while (left_s := begins_s - self._conductor.now_s()) > 0:
            gevent.sleep(min(left_s, 0.25))
            if self._stopping or lease.lost or time.monotonic() > until_s:
                return False
        return True

    def _answers(self, game: Game, match: Match, seats: Sequence[Seat]) -> tuple[list[Event], list[str]]:
        """Asks all seats at once; returns the events of their replies in order, without failures of the server.

        Also returns the addresses that could not be asked because something is away. If the game's code fails to make
        a question, nobody is asked.
        """
        try:
            questions = [self._computed(match, partial(_question, game, match, seat)) for seat in seats]
        except RAISED as error:
            return [failed(error)], []
        asked = [gevent.spawn(self._askers.ask, question) for question in questions]
        self._asked.update(asked)
        try:
            gevent.joinall(asked)
        finally:
            self._asked.difference_update(asked)
            if not all(one.ready() for one in asked):
                gevent.killall([one for one in asked if not one.ready()], block=False)
        replies = [
            (seat, question, one.value)
            for seat, question, one in zip(seats, questions, asked, strict=True)
            if isinstance(one.value, Reply)
        ]
        heard = [self._heard(game, match, *each) for each in replies]
        away = [question.address for _, question, reply in replies if reply.failure is not None and reply.failure.away]
        return [event for event in heard if event is not None], away

    def _computed(self, match: Match, make: Callable[[], Made]) -> Made:
        """Returns what is computed for the match, at its pace: with a large state that takes long."""
        if not match.rated:
            return self._pace.compute(make)
        self._pace.note_rated()
        return make()

    def _heard(self, game: Game, match: Match, seat: Seat, question: Question, reply: Reply) -> Event | None:
        """Returns the event of a reply, None for a failure of the server; notes how the bot does."""
        event = _event(game, match, seat, reply)
        if isinstance(event, GaveUp) and reply.failure is None:
            # an answer, but not a valid turn: its owner must be told
            reply = replace(reply, failure=Failure("invalid-turn", event.sentence))
        if match.rated:
            # otherwise anybody who knows a bot's url could have it paused, or fill Redis with other urls
            self._health.note(question, reply)
        return event


def _question(game: Game, match: Match, seat: Seat) -> Question:
    assert seat.address is not None
    content = content_of(game, match, seat)
    valid = partial(is_turn, game, match, seat)
    return Question(seat.address, match.game, match.id, seat.bot, content, seat.remaining_s, valid, match.rated)


def _event(game: Game, match: Match, seat: Seat, reply: Reply) -> Event | None:
    failure = reply.failure
    if failure is None:
        return turned(game, match, seat, reply.value, reply.thinking_s)
    if failure.ours:
        log.warning("bot.not_asked", match=match.id, bot=seat.bot, code=failure.code, error=failure.sentence)
        return None
    log.info("bot.failed", match=match.id, bot=seat.bot, code=failure.code, error=failure.sentence)
    return gave_up(seat, failure.public, failure.late, reply.thinking_s)
