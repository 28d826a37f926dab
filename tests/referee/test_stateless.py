"""Seats of bots that are asked at an address: they are sent nothing, and an answer counts for its question alone."""

from __future__ import annotations

from typing import Any

import msgspec
from matches import NUMBERWANG, START_S, a_match, a_simultaneous_game, with_rules

from battlebot.referee.events import Joined, Turned
from battlebot.referee.match import Match
from battlebot.referee.step import NUDGE_AFTER_S, step, with_first_due

NOW_S = START_S + 1.0


def asked(game: Any = NUMBERWANG, bots: tuple[str, ...] = ("a", "b")) -> Match:
    """A match in which `a` is asked at an address."""
    match = a_match(game, bots)
    first = msgspec.structs.replace(match.seats[0], place="bots/1", address="http://bots.example/a")
    return msgspec.structs.replace(match, seats=(first, *match.seats[1:]))


def test_a_stateless_bot_is_sent_nothing() -> None:
    """The other is told its turn."""
    answer = step(NUMBERWANG, asked(), Turned("a", {"n": 1}, 0.1, question=0), NOW_S)
    assert [update.bot for update in answer.updates] == ["b"]
    assert answer.match.state["board"] == {"n": 1}


def test_an_answer_counts_for_the_question_it_was_given_to() -> None:
    """The same answer, come twice, is applied once; also where the bot is asked something else by now."""
    match = step(NUMBERWANG, asked(), Turned("a", {"n": 1}, 0.1, question=0), NOW_S).match
    assert step(NUMBERWANG, match, Turned("a", {"n": 1}, 0.1, question=0), NOW_S).match is match
    match = step(NUMBERWANG, match, Turned("b", {"n": 1}, 0.1), NOW_S).match
    assert step(NUMBERWANG, match, Turned("a", {"n": 1}, 0.1, question=0), NOW_S).match is match
    assert step(NUMBERWANG, match, Turned("a", {"n": 1}, 0.1, question=2), NOW_S).match.version == 3


def test_a_bot_that_sits_down_itself_is_asked_no_more() -> None:
    """Its connection takes the seat."""
    seat = step(NUMBERWANG, asked(), Joined("a", "n1/1"), NOW_S).match.seats[0]
    assert (seat.place, seat.address) == ("n1/1", None)


def test_a_pause_before_a_question_puts_off_when_somebody_must_look() -> None:
    """The game says for how long viewers may look at what happened."""
    game = with_rules(a_simultaneous_game(), pause_ms=lambda state: 2500)
    match = with_first_due(game, asked(game, ("a", "b", "c")), START_S)
    assert match.due_s == START_S + 2.5 + match.limits.turn_timeout_s + NUDGE_AFTER_S
