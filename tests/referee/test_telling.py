"""What a seat is told: that a match has begun, though it has gone on meanwhile, and which board of a series it is."""

from __future__ import annotations

import pytest
from matches import GAMES, NOUGHTS, START_S, a_match, checked_step
from msgspec.structs import replace

from battlebot.referee.events import TimedOut, Turned
from battlebot.referee.match import Match, Series
from battlebot.referee.telling import beginning_for, told_all, update_for

BEGUN = a_match(NOUGHTS)
SERIES = Series("s", board=2, boards=2, number=15509)


def gone_on(is_over: bool) -> Match:
    """The match after an invalid turn and a good one; then `b` may run out of time."""
    events = [Turned("a", {"mark": "?"}, 0.1), Turned("a", {"mark": "X", "space": [0, 0]}, 0.1)]
    match = BEGUN
    for event in [*events, *([TimedOut("b", 1, 3.5)] if is_over else [])]:
        match = checked_step(NOUGHTS, match, event, START_S + 4.0).match
    assert (match.version, match.verdict is not None) == (1, is_over)
    return match


@pytest.mark.parametrize("is_over", [False, True], ids=["it goes on", "it is over"])
def test_who_is_told_late_that_a_match_has_begun_is_told_as_if_in_time(is_over: bool) -> None:
    """Whoever was to move then is not: it would answer a question that is past."""
    told = beginning_for(NOUGHTS, gone_on(is_over), "b")
    assert told == update_for(NOUGHTS, BEGUN, BEGUN.seats[1])
    assert told is not None
    assert (told.asks, told.final, told.version, told.revision, told.place) == (False, False, 0, 0, "b/1")
    assert beginning_for(NOUGHTS, gone_on(is_over), "a") is None


def test_an_update_has_its_question_and_what_bots_are_not_told_of_their_time() -> None:
    """By both its transport knows when to stop waiting."""
    match = replace(BEGUN, limits=replace(BEGUN.limits, leeway_s=0.5))
    told = update_for(NOUGHTS, match, replace(BEGUN.seats[0], question=3))
    assert (told.question, told.leeway_s) == (3, 0.5)


@pytest.mark.parametrize(("board", "more"), [(1, True), (2, False)])
def test_the_last_board_of_a_series_is_followed_by_none(board: int, more: bool) -> None:
    """Nor is a match by itself."""
    assert replace(BEGUN, series=replace(SERIES, board=board)).goes_on is more
    assert not BEGUN.goes_on


def test_an_update_says_which_board_of_a_series_it_is_about() -> None:
    """And in a match by itself nothing of that."""
    updates = told_all(GAMES["gomoku"], replace(a_match(GAMES["gomoku"]), series=SERIES))
    about = {"id": "s", "board": 2, "boards": 2, "number": 15509}
    assert [update.message["match"]["series"] for update in updates] == [about] * 2
    assert "series" not in told_all(NOUGHTS, BEGUN)[0].message["match"]
