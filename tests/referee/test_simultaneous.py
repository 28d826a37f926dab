"""A game in which everybody moves at once: `waitingFor` says who is asked, and each clock is its own."""

from __future__ import annotations

from matches import Play, a_simultaneous_game

from battlebot.referee.events import Joined, Left, TimedOut
from battlebot.referee.step import NUDGE_AFTER_S

THREE = ("a", "b", "c")


def playing() -> Play:
    """Three bots, all of them asked."""
    return Play(a_simultaneous_game(), THREE)


def test_everybody_may_move_in_any_order() -> None:
    """Each turn is told to all, each sees its own part, and who has moved is not asked any more."""
    play = playing()
    play.turn("c", n=5)
    assert [update.asks for update in play.last.updates] == [True, True, False]
    assert [message["state"]["named"] for _, message in play.messages()] == [{}, {}, {"c": 5}]
    play.turn("a", n=2)
    assert [update.asks for update in play.last.updates] == [False, True, False]
    play.turn("b", n=3)
    assert play.verdict() == ("c", "complete", "none")
    assert [message["state"]["named"] for _, message in play.messages()] == [{"a": 2, "b": 3, "c": 5}] * 3


def test_a_turn_leaves_the_clocks_of_the_others_as_they_are() -> None:
    """What is asked of them was asked before."""
    play = playing()
    asked_s = play.seat("b").asked_s
    play.turn("b", 1.0, n="x")
    play.turn("a", 0.5, n=1)
    assert play.seat("b").remaining_s == 2.0
    assert play.messages()[1][1]["match"]["remainingMs"] == 2000
    assert play.seat("c").asked_s == asked_s
    assert play.seat("a").asked_s is None


def test_the_next_round_asks_everybody_anew() -> None:
    """Full clocks for all, also for the one whose turn ended the round."""
    play = playing()
    play.turn("b", 1.0, n="x")
    for bot in THREE:
        play.turn(bot, 1.0, n=7)
    assert play.match.state["round"] == 2
    assert [update.asks for update in play.last.updates] == [True, True, True]
    assert [seat.remaining_s for seat in play.match.seats] == [3.0, 3.0, 3.0]
    assert {seat.asked_s for seat in play.match.seats} == {play.now_s}


def test_moving_twice_in_a_round_is_a_strike() -> None:
    """It is not asked any more."""
    play = playing()
    play.turn("a", n=1)
    play.turn("a", n=2)
    assert (play.seat("a").strikes, play.match.version) == (1, 1)
    assert play.messages()[0][1]["error"] == "It is not your turn: the match waits for b, c."


def test_a_clock_runs_out_for_the_version_last_shown() -> None:
    """With three, nobody is the one other bot that wins."""
    play = playing()
    play.turn("a", n=1)
    play.event(TimedOut("c", 1, 3.0), 2.5)
    assert play.verdict() == (None, "timeout", "bot")


def test_with_two_the_other_wins() -> None:
    """By time and by strikes."""
    game = a_simultaneous_game()
    play = Play(game)
    play.turn("b", 3.5, n=1)
    assert play.verdict() == ("a", "timeout", "bot")
    play = Play(game)
    for _ in range(3):
        play.garbage("a")
    assert play.verdict() == ("b", "invalid", "bot")


def test_the_deadline_waits_for_the_longest_clock() -> None:
    """An empty seat's time to be back comes before it."""
    play = playing()
    play.turn("a", 1.0, n="x")
    assert play.match.due_s == play.now_s + 3.0 + NUDGE_AFTER_S
    play.event(Left("a", "a/1", clean=False, thinking_s=0.5), 0.5)
    assert play.match.due_s == play.now_s + 1.5


def test_being_away_over_the_others_turns_costs_ones_own_time() -> None:
    """They restart no clock of its own."""
    play = playing()
    play.event(Left("a", "a/1", clean=False, thinking_s=0.5), 0.5)
    play.turn("b", 1.0, n=1)
    play.event(Joined("a", "a/2"), 0.5)
    assert play.seat("a").remaining_s == 1.0
