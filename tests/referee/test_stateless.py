"""Seats of bots that are asked at an address: they are sent nothing, and an answer counts for its question alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from matches import NUMBERWANG, START_S, a_match, a_simultaneous_game, with_rules

from battlebot.referee.advance import asked_from_s, entered
from battlebot.referee.events import Joined, Reconfigured, Turned
from battlebot.referee.match import Match, Series
from battlebot.referee.step import NUDGE_AFTER_S, step, with_first_due

NOW_S = START_S + 1.0


PAUSE_S = 2.5


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


def test_no_board_follows_where_a_bot_sat_down_itself() -> None:
    """Its connection may end with the match, which a stateless bot never does."""
    match = msgspec.structs.replace(asked(), series=Series("s", 1, 2, 7))
    assert match.goes_on
    assert not step(NUMBERWANG, match, Joined("a", "n1/1"), NOW_S).match.goes_on
    assert step(NUMBERWANG, match, Joined("b", "n1/2"), NOW_S).match.goes_on


def test_a_pause_before_a_question_puts_off_when_somebody_must_look() -> None:
    """The game says for how long viewers may look at what happened."""
    game = with_rules(a_simultaneous_game(), pause_ms=lambda state: 2500)
    match = with_first_due(game, asked(game, ("a", "b", "c")), START_S)
    assert match.due_s == START_S + 2.5 + match.limits.turn_timeout_s + NUDGE_AFTER_S


def pausing() -> Any:
    """A game with a pause before each question, whose options change; its state says whether bots had been asked."""
    configure = lambda state, options, asked: {**state, **options, "asked": asked}  # noqa: E731
    return with_rules(a_simultaneous_game(), configure=configure, pause_ms=lambda state: int(PAUSE_S * 1000))


def all_asked(game: Any, others: str | None = "http://bots.example/b") -> Match:
    """A match of two at its beginning, both asked at an address, unless the other is connected."""
    match = asked(game, ("a", "b", "c"))
    seats = tuple(msgspec.structs.replace(seat, address=seat.address or others) for seat in match.seats)
    return with_first_due(game, msgspec.structs.replace(match, seats=seats), START_S)


CHANGES: list[tuple[str, float, str | None, bool]] = [
    ("in the pause", 2.499, "http://bots.example/b", False),
    ("as it ends", 2.5, "http://bots.example/b", True),
    ("after it", 2.6, "http://bots.example/b", True),
    ("one is connected, and knows the state", 2.4, None, True),
]


@pytest.mark.parametrize(("after_s", "others", "told"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_a_setup_that_changes_before_anybody_is_asked_is_another_question(
    after_s: float, others: str | None, told: bool
) -> None:
    """An answer to the question before counts for nothing then; that to a question that was put counts."""
    game = pausing()
    before = all_asked(game, others)
    answer = step(game, before, Reconfigured({"size": 3}), START_S + after_s)
    match, time_ms = answer.match, int((START_S + after_s) * 1000)
    turn = {"player": None, "time": time_ms, "options": {"size": 3}, "asked": told}
    assert answer.recorded == {"turn": turn, "reconfigured": True, "thinkingMs": 0.0, "serverMs": 0.0}
    assert entered(game, before.state, turn, "reconfigured") == match.state
    assert (match.state["size"], match.state["asked"], match.version) == (3, told, 1)
    assert [seat.question for seat in match.seats] == ([0, 0, 0] if told else [1, 1, 1])
    assert [seat.asked_s for seat in match.seats] == [START_S] * 3
    later_s = START_S + PAUSE_S + 1.0
    answered = step(game, match, Turned("a", {"n": 1}, 0.1, question=0), later_s).match
    assert (answered is match) is not told
    if not told:
        assert step(game, match, Turned("a", {"n": 1}, 0.1, question=1), later_s).match.version == 2


def test_what_a_connected_bot_sends_puts_off_nobodys_question() -> None:
    """Its clock begins anew by it, not the pause."""
    game = pausing()
    match = step(game, all_asked(game, None), Turned("b", None, 1.0), START_S + 1.0).match
    assert match.seats[1].asked_s == START_S + 1.0
    assert asked_from_s(game, match) == START_S + PAUSE_S


def test_a_record_that_does_not_say_whether_bots_were_asked_is_of_when_they_always_were() -> None:
    """Of an earlier version."""
    game = pausing()
    assert entered(game, all_asked(game).state, {"options": {}}, "reconfigured")["asked"] is True


def test_a_setup_that_changes_where_there_is_no_pause_changes_after_the_question() -> None:
    """Also by a clock that is behind the one by which they were asked."""
    game = with_rules(pausing(), pause_ms=None)
    match = step(game, all_asked(game), Reconfigured({"size": 3}), START_S - 0.5).match
    assert (match.state["asked"], match.seats[0].question) == (True, 0)


def test_a_setup_that_changes_twice_in_a_pause_is_changed_twice() -> None:
    """And not once somebody has answered, by whatever clock."""
    game = pausing()
    match = step(game, all_asked(game), Reconfigured({"size": 3}), START_S + 1.0).match
    match = step(game, match, Reconfigured({"size": 4}), START_S + 2.0).match
    assert (match.state["size"], match.state["asked"], match.seats[0].question) == (4, False, 2)
    match = step(game, match, Turned("a", {"n": 1}, 0.1, question=2), START_S + 2.1).match
    assert step(game, match, Reconfigured({"size": 5}), START_S + 2.2).match.state["asked"] is True
