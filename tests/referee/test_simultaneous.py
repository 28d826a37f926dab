"""A game in which everybody moves at once: `waitingFor` says who is asked, and each clock is its own."""

from __future__ import annotations

from typing import Any

import pytest
from matches import NUMBERWANG, Play, a_game_that_goes_on, a_simultaneous_game, replayed, with_rules

from battlebot.referee.events import GaveUp, Joined, Left, Orphaned, Overdue, Reconfigured, TimedOut
from battlebot.referee.step import NUDGE_AFTER_S

THREE = ("a", "b", "c")


def playing() -> Play:
    """Three bots, all of them asked."""
    return Play(a_simultaneous_game(), THREE)


def test_somebody_must_look_when_the_longest_of_the_clocks_has_run_out() -> None:
    """Of those who are asked."""
    play = playing()
    play.garbage("b", 1.0)
    assert play.match.due_s == play.now_s + 3.0 + NUDGE_AFTER_S
    play.turn("a", 0.0, n=1)
    play.garbage("c", 1.5)
    assert play.match.due_s == play.now_s + 2.0 + NUDGE_AFTER_S


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


def test_a_round_counts_once_towards_the_longest_match() -> None:
    """However many are in it; the last round is played to its end."""
    play = Play(a_simultaneous_game(), THREE, max_turns=2)
    for number in range(6):
        assert play.match.verdict is None
        play.turn(THREE[number % 3], n=7)
    assert play.verdict() == (None, "length", "none")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"turns": play.match.version}
    assert play.match.state["round"] == 3


def test_a_second_turn_in_a_round_is_stale() -> None:
    """It is not asked any more; it costs nothing."""
    play = playing()
    play.turn("a", n=1)
    play.turn("a", n=2)
    assert (play.seat("a").strikes, play.match.version) == (0, 1)
    assert play.messages()[0][1]["code"] == "stale"


def test_a_turn_for_a_round_to_come_is_no_second_turn() -> None:
    """No bot can have seen that question: it is a strike."""
    play = playing()
    play.turn("a", n=1)
    play.turn("a", n=2, version=99)
    assert (play.seat("a").strikes, play.messages()[0][1]["code"]) == (1, "bad-version")


def test_the_turns_of_others_make_no_turn_stale() -> None:
    """A bot answers the question that it has seen, whoever was faster."""
    play = playing()
    play.turn("a", n=1, version=0)
    play.turn("b", n=2, version=0)
    assert play.match.version == 2
    assert play.seat("c").question == 0
    play.turn("a", n=1, version=0)
    assert play.messages()[0][1]["turn"]["valid"], "the same turn again is acknowledged again"
    play.turn("c", n=2, version=0)
    assert play.match.state["round"] == 2
    assert {seat.question for seat in play.match.seats} == {3}
    play.turn("b", n=2, version=2)
    assert play.messages()[0][1]["code"] == "stale", "it is for the round before"


def test_a_clock_runs_out_for_the_question() -> None:
    """With three, nobody is the one other bot that wins."""
    play = playing()
    play.turn("a", n=1)
    play.event(TimedOut("c", 0, 3.0), 2.5)
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


def going_on() -> Play:
    """Four bots in a game that goes on without those who are out."""
    return Play(a_game_that_goes_on(), ("a", "b", "c", "d"))


def test_a_match_goes_on_without_who_is_out() -> None:
    """By time, by strikes, by giving up, by a turn that comes too late: each is an entry of the record."""
    play = going_on()
    play.event(TimedOut("a", 0, 3.0), 3.0)
    assert play.match.verdict is None
    assert play.match.state["out"] == {"a": "The bot did not answer within 3000 ms."}
    assert [message["match"]["remainingMs"] for _, message in play.messages()] == [0, 3000, 3000, 3000]
    assert play.recorded[0]["thinkingMs"] == 3000
    for _ in range(3):
        play.garbage("b", 0.1)
    play.event(GaveUp("c", 0, "invalid", "no JSON", cause={"error": "VALIDATION_ERROR", "details": "no JSON"}))
    play.turn("d", n=1)
    assert list(play.match.state["out"]) == ["a", "b", "c"]
    assert play.match.state["out"]["b"] == "The bot's turns were not valid: A turn must be one JSON object."
    assert play.match.state["out"]["c"] == {"error": "VALIDATION_ERROR", "details": "no JSON"}
    assert [entry.get("forfeit") for entry in play.recorded] == [True, True, True, None]
    assert replayed(play, ("a", "b", "c", "d")) == play.match.state


def test_who_is_out_by_its_last_strike_is_told_so_with_its_turn() -> None:
    """In one update: of two of one revision it would be told the first only. The others see the forfeit."""
    play = going_on()
    for _ in range(3):
        play.turn("b", n="x")
    assert [bot for bot, _ in play.messages()] == ["a", "b", "c", "d"]
    (_, a), (_, b), *_ = play.messages()
    assert (b["turn"]["n"], b["turn"]["valid"], b["code"]) == ("x", False, "invalid-turn")
    assert list(b["state"]["out"]) == ["b"]
    assert b["match"]["version"] == a["match"]["version"]
    assert a["turn"]["player"] == "b"
    assert "forfeit" in a["turn"]
    assert [update.asks for update in play.last.updates] == [True, False, True, True]


def test_what_comes_from_a_bot_that_is_out_changes_nothing() -> None:
    """It is told so; its connection may go and come."""
    play = going_on()
    play.event(TimedOut("a", 0, 3.0), 3.0)
    play.turn("a", n=1)
    assert play.messages()[0][1]["code"] == "stale"
    assert play.messages()[0][1]["error"] == "This bot has given its turn, or is out: it is not asked now."
    play.event(Left("a", "a/1", clean=True), 0.1)
    assert play.seat("a").back_by_s is None
    play.event(Joined("a", "a/2"), 60.0)
    assert play.match.verdict is None


def test_a_seat_that_the_server_emptied_ends_also_a_match_that_goes_on() -> None:
    """It was not the bot's fault: it is not put out, and the match counts for nobody."""
    play = going_on()
    play.turn("b", n=1)
    play.event(Left("b", "b/1", clean=True))
    play.event(Orphaned("a", "a/1"))
    play.event(Overdue(), 15.0)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    evidence = play.match.verdict.evidence
    assert (evidence["absent"], evidence["emptiedBy"]) == (["a", "b"], {"a": "server"})
    assert (evidence["awayMs"], evidence["allowedMs"]) == ({"a": 15_000, "b": 15_000}, {"a": 15_000})
    assert [entry.get("forfeit") for entry in play.recorded] == [None]


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_seat_that_is_waited_for_is_so_after_the_turns_of_others(goes_on: bool) -> None:
    """Where the match cannot go on without it, also if it is not asked."""
    play = going_on() if goes_on else playing()
    if not goes_on:
        play.turn("a", n=1)
    play.event(Left("a", "a/1", clean=False))
    until_s = play.seat("a").back_by_s
    assert until_s is not None
    play.turn("b", n=1)
    assert play.seat("a").back_by_s == until_s


def test_an_empty_seat_is_waited_for_when_it_is_asked() -> None:
    """Not before, where the match goes on without it."""
    play = going_on()
    play.turn("a", n=1)
    play.event(Left("a", "a/1", clean=False), 0.1)
    assert play.seat("a").back_by_s is None
    for bot in "bcd":
        play.turn(bot, 0.1, n=1)
    assert play.match.state["round"] == 2
    assert play.seat("a").back_by_s == play.now_s + 3.0
    play.event(Overdue(), 3.0)
    assert play.match.verdict is None
    assert "did not come back" in play.match.state["out"]["a"]


def test_who_has_given_its_turn_and_loses_its_node_ends_nobodys_match() -> None:
    """Wherever it is: it is waited for when it is asked, and then for a whole grace."""
    play = going_on()
    play.turn("a", n=1)
    play.event(Orphaned("a", "a/1", "node-dead"), 0.1)
    assert play.seat("a").back_by_s is None
    play.event(Overdue(("a",)), 20.0)
    assert play.match.verdict is None
    for bot in "bcd":
        play.turn(bot, 0.1, n=1)
    assert play.seat("a").back_by_s == play.now_s + 15.0
    play.event(Overdue(("a",)), 15.0)
    assert play.match.verdict is None
    assert list(play.match.state["out"]) == ["a"]


def test_who_is_asked_after_its_node_died_has_the_longer_of_grace_and_clock() -> None:
    """To come back; and then a full clock."""
    play = Play(a_game_that_goes_on(), tuple("abcd"), turn_timeout_s=20.0)
    play.turn("a", n=1)
    play.event(Orphaned("a", "a/1", "node-dead"), 0.1)
    for bot in "bcd":
        play.turn(bot, 0.1, n=1)
    assert play.seat("a").back_by_s == play.now_s + 20.0
    play.event(Joined("a", "a/2"), 19.0)
    assert play.seat("a").remaining_s == 20.0


def test_who_is_out_and_loses_its_node_ends_nobodys_match() -> None:
    """It is never waited for again."""
    play = going_on()
    play.event(TimedOut("a", 0, 3.0), 3.0)
    play.event(Orphaned("a", "a/1", "node-dead"))
    play.event(Overdue(), 20.0)
    assert play.match.verdict is None


def test_the_turn_of_a_bot_that_has_left_ends_the_wait_for_it() -> None:
    """It arrived before the connection's end was known, and was committed after."""
    play = going_on()
    play.event(Left("a", "a/1", clean=False))
    play.turn("a", n=1)
    assert play.seat("a").back_by_s is None
    play.event(Overdue(), 3.0)
    assert play.match.verdict is None


def test_who_is_not_asked_any_more_is_not_waited_for() -> None:
    """Another's turn may have put it out."""
    game = a_game_that_goes_on()

    def shot(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
        after = game.reducer(state, turn)
        return {**after, "waitingFor": [name for name in after["waitingFor"] if name != turn.get("at")]}

    play = Play(with_rules(game, reducer=shot), tuple("abcd"))
    play.event(Left("a", "a/1", clean=False))
    play.turn("b", n=1, at="a")
    assert play.seat("a").back_by_s is None
    play.event(Overdue(), 3.0)
    assert play.match.verdict is None


@pytest.mark.parametrize("version", [0, 99])
def test_who_is_not_asked_cannot_end_the_match_of_others(version: int) -> None:
    """Whatever version its turns name: they cost nothing, and it is told that it is not asked."""
    play = going_on()
    play.event(TimedOut("a", 0, 3.0), 3.0)
    for _ in range(3):
        play.turn("a", n=1, version=version)
        assert play.messages()[0][1]["code"] == "stale"
    assert play.match.verdict is None


def test_giving_up_ends_a_match_of_two() -> None:
    """By the fault of the bot; a question that has passed is not given up."""
    play = Play(NUMBERWANG)
    play.event(GaveUp("a", 1, "timeout", "no answer within 5000 ms"))
    assert play.match.verdict is None
    play.event(GaveUp("a", 0, "timeout", "no answer within 5000 ms", thinking_s=2.9375))
    assert play.verdict() == ("b", "timeout", "bot")
    assert play.match.verdict is not None
    told = {"code": "no-answer", "sentence": "no answer within 5000 ms"}
    times = {"thinkingMs": 2938, "limitMs": 3000}
    assert play.match.verdict.evidence == {"bot": "a", "version": 0, **times, **told}
    assert [(bot, message.get("code")) for bot, message in play.messages()] == [("a", None), ("b", "opponent-failed")]
    assert play.messages()[1][1]["error"].startswith("a was asked, and gave no answer")


def test_who_is_left_alone_in_a_match_that_goes_on_is_told_the_forfeit_and_no_failure() -> None:
    """That turn says it all."""
    play = Play(a_game_that_goes_on())
    play.turn("b", n=1)
    play.event(GaveUp("a", 0, "timeout", "no answer"))
    assert play.verdict() == ("b", "complete", "none")
    assert [message.get("code") for _, message in play.messages()] == [None, None]
    turn = play.messages()[1][1]["turn"]
    assert (turn["player"], turn["valid"]) == ("a", True)


@pytest.mark.parametrize("bot", ["a", "c"])
@pytest.mark.parametrize("ends", [TimedOut, GaveUp])
def test_a_clock_that_ends_for_who_is_not_asked_ends_nothing(ends: type[TimedOut | GaveUp], bot: str) -> None:
    """One has just moved, the other is in another match."""
    play = Play(NUMBERWANG)
    play.turn("a", n=1)
    play.event(TimedOut(bot, 0, 3.0) if ends is TimedOut else GaveUp(bot, 0, "timeout", "no answer"))
    assert (play.match.verdict, play.last.updates) == (None, ())


def test_options_change_while_a_match_goes_on() -> None:
    """All are told; the record has it."""
    game = with_rules(
        a_simultaneous_game(), configure=lambda state, options, asked: {**state, **options, "asked": asked}
    )
    play = Play(game, THREE)
    play.event(Reconfigured({"size": 3}))
    assert (play.match.state["size"], play.match.state["asked"]) == (3, True)
    assert len(play.last.updates) == 3
    assert replayed(play, THREE) == play.match.state


def test_options_that_a_game_refuses_change_nothing() -> None:
    """Nobody is told anything, and nothing is recorded."""
    play = Play(NUMBERWANG)
    play.event(Reconfigured({"size": 3}))
    assert (play.match.version, play.match.verdict, play.last.updates) == (0, None, ())


def test_what_a_bot_plays_is_echoed_to_nobody_who_may_still_move() -> None:
    """Else the last to answer would know what all others plan."""
    play = playing()
    play.turn("a", n=5)
    assert ["turn" in message for _, message in play.messages()] == [True, False, False]
