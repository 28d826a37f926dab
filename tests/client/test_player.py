"""One bot's conversation: versions, invalid turns, turns lost with a connection, matches missed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from scripted_server import Line, final, update

from battlebot.client import BadTurn, Result

Play = Callable[..., list[Result]]


def test_each_turn_carries_the_version_that_it_answers(play: Play, bot: Any) -> None:
    """The other bot's turns in between are not answered."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0))
        assert line.hear() == {"n": 1, "version": 0, "match": "m1"}
        line.say(update(1, "You", turn={"n": 1, "version": 0, "match": "m1"}))
        line.hears_nothing()
        line.say(update(2, turn={"n": -1, "player": "You"}))
        assert line.hear() == {"n": 2, "version": 2, "match": "m1"}
        line.say(final(3, turn={"n": 2, "version": 2, "match": "m1"}))

    assert play(script, matches=1) == [("m1", "Me", "complete")]
    assert bot.told == [("started", "m1"), ("updated", True), ("updated", True), ("updated", True), ("finished", "Me")]


def test_an_invalid_turn_is_chosen_again_until_the_strikes_are_used_up(play: Play, bot: Any) -> None:
    """The version stays, the bot is told why, and after the third comes the end without a turn."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(4))
        for n in (1, 2, 3):
            assert line.hear() == {"n": n, "version": 4, "match": "m1"}
            bad = update(4, turn={"n": n, "version": 4, "match": "m1", "valid": False}, strikes=n)
            line.say({**bad, "code": "invalid-turn", "error": "No."})
            if n == 3:
                line.say(final(4, "You"))

    assert play(script, matches=1) == [("m1", "You", "complete")]
    assert bot.told.count(("updated", False)) == 3
    assert bot.told.count(("notice", "invalid-turn", "No.")) == 3
    assert bot.match.strikes == 0


def test_no_turn_is_chosen_after_the_one_that_lost_the_match(play: Play, bot: Any) -> None:
    """In a kept session the next match begins meanwhile, with a clock of its own."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(4))
        bad = update(4, turn={**line.hear(), "valid": False}, strikes=3)
        line.say({**bad, "match": {**bad["match"], "fault": "bot"}}, final(4, "You"), update(0, match="m2"))
        assert line.hear() == {"n": 2, "version": 0, "match": "m2"}
        line.say(final(1, match="m2"))
        assert line.bot_closes() == 1000

    assert play(script, idle_timeout_s=1.0) == [("m1", "You", "complete"), ("m2", "Me", "complete")]


def test_a_turn_lost_with_its_connection_is_sent_again(play: Play, bot: Any) -> None:
    """The version has not moved: the same turn goes out, and the bot is not asked a second time."""

    def first(line: Line) -> None:
        line.login()
        line.say(update(0))
        assert line.hear() == {"n": 1, "version": 0, "match": "m1"}
        line.drop()

    def second(line: Line) -> None:
        login = line.login()
        assert (login["resume"], login["version"], login["protocol"]) == ("m1", 0, 2)
        line.say(update(0))
        assert line.hear() == {"n": 1, "version": 0, "match": "m1"}
        line.say(final(1, turn={"n": 1, "version": 0, "match": "m1"}))

    assert play(first, second, matches=1) == [("m1", "Me", "complete")]
    assert bot.turns == 1
    assert bot.told == [("started", "m1"), ("updated", None), ("updated", True), ("finished", "Me")]


def test_a_turn_that_arrived_is_not_sent_again(play: Play, bot: Any) -> None:
    """The version has moved on while the bot was away: first to the opponent, who has moved as well."""

    def first(line: Line) -> None:
        line.login()
        line.say(update(0))
        line.hear()
        line.drop()

    def second(line: Line) -> None:
        line.login()
        line.say(update(1, "You"))
        line.hears_nothing()
        line.say(update(2))
        assert line.hear() == {"n": 2, "version": 2, "match": "m1"}
        line.drop()

    def third(line: Line) -> None:
        line.login()
        line.say(update(4))
        assert line.hear() == {"n": 3, "version": 4, "match": "m1"}
        line.say(final(5))

    play(first, second, third, matches=1)
    assert bot.turns == 3


def test_a_turn_that_was_invalid_is_not_sent_again(play: Play, bot: Any) -> None:
    """The version has not moved, but the strikes have: the answer was lost, not the turn."""

    def first(line: Line) -> None:
        line.login()
        line.say(update(0))
        line.hear()
        line.drop()

    def second(line: Line) -> None:
        line.login()
        line.say(update(0, strikes=1))
        assert line.hear() == {"n": 2, "version": 0, "match": "m1"}
        line.say(final(1))

    play(first, second, matches=1)


def test_an_acknowledgement_that_comes_twice_is_answered_once(play: Play) -> None:
    """While version 2's turn is under way, the echo of version 0's must not ask for another."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0))
        echo = {**line.hear(), "valid": True}
        line.say(update(2, turn={"player": "You"}), update(2, turn=echo))
        line.hear()
        line.say(update(2, turn=echo))
        line.hears_nothing()
        line.say(final(3))

    play(script, matches=1)


def test_a_stale_turn_is_chosen_again_for_the_version_that_is(play: Play) -> None:
    """In a game where all move at once; until the answer comes, other bots' turns ask for nothing."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0, None, waitingFor=["Me", "You"]))
        turn = line.hear()
        line.say(update(1, None, waitingFor=["Me"], turn={"player": "You"}))
        line.hears_nothing()
        stale = update(1, None, waitingFor=["Me"], turn={**turn, "valid": False})
        line.say({**stale, "code": "stale", "error": "Too old."})
        assert line.hear() == {"n": 2, "version": 1, "match": "m1"}
        line.say(final(2))

    play(script, matches=1)


def test_turns_missed_are_told_one_by_one_on_return(play: Play, bot: Any) -> None:
    """Its own, whose acknowledgement was lost, and the opponent's; then the bot is asked."""

    def first(line: Line) -> None:
        line.login()
        line.say(update(0))
        line.hear()
        line.drop()

    def second(line: Line) -> None:
        assert line.login()["version"] == 0
        line.say({**update(2), "missed": [{"n": 1, "valid": True}, {"n": -1, "valid": True}]})
        assert line.hear() == {"n": 2, "version": 2, "match": "m1"}
        line.say(final(3, turn={"n": 2, "version": 2, "match": "m1"}))

    assert play(first, second, matches=1) == [("m1", "Me", "complete")]
    seen = [("updated", True), ("updated", True), ("updated", None), ("updated", True)]
    assert bot.told == [("started", "m1"), *seen, ("finished", "Me")]


def test_a_match_that_ended_meanwhile_is_told_on_return(play: Play, bot: Any) -> None:
    """The update that answers `resume` is the final one; told twice, it counts once."""

    def first(line: Line) -> None:
        line.login()
        line.say(update(0, "You"))
        line.drop()

    def second(line: Line) -> None:
        assert line.login()["resume"] == "m1"
        line.say(final(3, "You"), final(3, "You"), final(1, None, match="m2"))
        assert line.bot_closes() == 1000

    assert play(first, second, idle_timeout_s=1.0) == [("m1", "You", "complete"), ("m2", None, "complete")]


def test_a_bot_that_thinks_for_longer_than_it_would_be_idle_comes_back_to_its_match(play: Play, bot: Any) -> None:
    """It has a match all the time; only from when it is cut off does the idle time-out count."""

    def slow(state: Any) -> dict[str, Any]:
        time.sleep(1.5)
        return {"n": 0}

    def first(line: Line) -> None:
        line.login()
        line.say(update(0))
        line.hear()
        line.drop()

    def second(line: Line) -> None:
        assert line.login()["resume"] == "m1"
        line.say(final(3, "You"))
        assert line.bot_closes() == 1000

    bot.choose = slow
    assert play(first, second, idle_timeout_s=1.0) == [("m1", "You", "complete")]


def test_a_match_that_is_never_heard_of_again_is_missed(play: Play) -> None:
    """The next match begins; how the last one ended is not known."""

    def first(line: Line) -> None:
        line.login()
        line.say(update(0, "You"))
        line.drop()

    def second(line: Line) -> None:
        line.login()
        line.say(final(2, match="m2"))

    assert play(first, second, matches=2) == [("m1", None, "missed"), ("m2", "Me", "complete")]


def test_notices_and_errors_reach_the_bot(play: Play, bot: Any, caplog: pytest.LogCaptureFixture) -> None:
    """They are messages of their own, and neither ends nor begins anything. Who writes no `notice` sees them logged."""

    def script(line: Line) -> None:
        line.login()
        line.say({"notice": "You wait.", "code": "waiting"}, {"error": "Hm.", "code": "odd"}, {"later": "words"})
        line.say(final(1))

    play(script, matches=1)
    assert bot.told[:2] == [("notice", "waiting", "You wait."), ("notice", "odd", "Hm.")]
    assert "the server says: You wait. (waiting)" in caplog.text


def nested(depth: int) -> dict[str, Any]:
    """Objects in objects."""
    turn: dict[str, Any] = {}
    for _ in range(depth):
        turn = {"n": turn}
    return turn


@pytest.mark.parametrize("turn", [None, [1], {"n": float("nan")}, {"n": {1, 2}}, {"n": "\udcff"}, nested(100_000)])
def test_what_is_no_json_object_is_no_turn(play: Play, bot: Any, turn: Any) -> None:
    """The author gets an error, the server a goodbye."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0))
        assert line.bot_closes() == 1000

    bot.choose = lambda state: turn
    with pytest.raises(BadTurn):
        play(script)
