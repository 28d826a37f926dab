"""The version that a turn may carry: sent twice, applied once; an older one is stale; a later one is a strike."""

from __future__ import annotations

from typing import Any

import pytest
from matches import Play

from battlebot.referee.events import Turned


def told(play: Play) -> list[tuple[str, bool, str | None]]:
    """Of the last updates: bot, valid, code."""
    return [(bot, message["turn"]["valid"], message.get("code")) for bot, message in play.messages()]


def test_a_turn_sent_twice_is_acknowledged_twice_and_applied_once() -> None:
    """The second acknowledgement goes only to the bot that asks again, with the state as it is."""
    play = Play()
    play.turn("a", n=1, version=0)
    assert told(play) == [("a", True, None), ("b", True, None)]
    before, echo = play.match, play.messages()[0][1]["turn"]
    play.now_s += 0.5
    play.turn("a", n=1, version=0)
    assert told(play) == [("a", True, None)]
    assert play.messages()[0][1]["turn"] == echo, "as it is in the record"
    assert play.match is before
    assert play.match.state["board"] == {"n": 1}


def test_also_after_the_opponent_has_moved_on() -> None:
    """The acknowledgement may have been lost together with the opponent's turn; the bot is asked again."""
    play = Play()
    play.turn("a", n=1, version=0)
    play.turn("b", n=2)
    before = play.match
    play.turn("a", n=1, version=0)
    assert told(play) == [("a", True, None)]
    assert play.match is before
    assert play.last.updates[0].asks
    assert play.messages()[0][1]["match"]["version"] == 2
    play.turn("a", n=3, version=2)
    assert play.match.state["board"] == {"n": 6}


@pytest.mark.parametrize(("at", "version"), [(0, 1), (1, 0), (None, 1)])
def test_a_turn_that_is_for_one_version_counts_at_no_other(at: int | None, version: int) -> None:
    """The node says so, not the bot: nobody is told of it."""
    play = Play()
    play.event(Turned("a", {"n": 1}, 0.5, version=at))
    assert play.match.version == version
    assert bool(play.last.updates) is bool(version)


def test_a_version_that_is_no_number_is_a_field_of_the_bots_own() -> None:
    """Python takes `true` for 1."""
    play = Play()
    play.turn("a", n=1, version=True)
    assert told(play) == [("a", True, None), ("b", True, None)]


def test_forged_keys_do_not_make_it_another_turn() -> None:
    """They are the server's; the bot's own are what is compared."""
    play = Play()
    play.turn("a", n=1, version=0)
    play.turn("a", n=1, version=0, time=99, valid=False, player="b")
    assert told(play) == [("a", True, None)]
    assert play.messages()[0][1]["turn"]["player"] == "a"


@pytest.mark.parametrize(
    "turn",
    [{"n": 2, "version": 0}, {"n": 1, "version": 1}, {"version": 1}, {"n": "x", "version": 0}, {"n": 1, "version": 0}],
    ids=repr,
)
def test_an_older_version_is_stale_and_no_strike(turn: dict[str, Any]) -> None:
    """Another turn for a version that has passed; also the bot's own turn once it has made a later one."""
    play = Play()
    play.turn("a", n=1, version=0)
    play.turn("b", n=1)
    play.turn("a", n=3, version=2)
    before = play.match
    for _ in range(5):
        play.turn("a", **turn)
        assert told(play) == [("a", False, "stale")]
    assert "at 3" in play.messages()[0][1]["error"]
    assert play.messages()[0][1]["turn"]["time"] == int(play.now_s * 1000)
    assert play.match is before
    assert play.seat("a").strikes == 0


def test_another_turn_for_the_version_just_answered_is_stale() -> None:
    """A bot cannot change its mind; nor is it told that it did."""
    play = Play()
    play.turn("a", n=1, version=0)
    play.turn("a", n=2, version=0)
    assert told(play) == [("a", False, "stale")]
    assert play.match.state["board"] == {"n": 1}


def test_a_stale_turn_on_turn_is_no_strike_and_no_turn() -> None:
    """A bot that answers an old update late may still answer the new one."""
    play = Play()
    play.turn("a", n=1)
    play.turn("b", n=5, version=0)
    assert told(play) == [("b", False, "stale")]
    assert play.last.updates[0].asks
    play.turn("b", n=5, version=1)
    assert play.match.version == 2


def test_the_right_version_is_a_turn_as_any_other() -> None:
    """And stays in the echo, being the bot's own key."""
    play = Play()
    play.turn("a", n=1, version=0)
    assert play.messages()[0][1]["turn"]["version"] == 0
    play.turn("b", n="x", version=1)
    assert told(play) == [("b", False, "invalid-turn")]


@pytest.mark.parametrize("version", ["0", "1.2.3", 0.0, 0.5, True, False, None, [0], {"major": 0}], ids=repr)
def test_a_version_that_is_no_integer_is_the_bots_own_business(version: Any) -> None:
    """It may well have a key of that name for something else."""
    play = Play()
    play.turn("a", n=1)
    play.turn("b", n=1, version=version)
    assert told(play) == [("a", True, None), ("b", True, None)]


@pytest.mark.parametrize("version", [1, 2, 2**62])
def test_a_version_from_the_future_is_a_strike(version: int) -> None:
    """Such a bot has miscounted: better told than left to its luck."""
    play = Play()
    play.turn("a", n=1, version=version)
    assert told(play) == [("a", False, "bad-version")]
    assert "at version 0" in play.messages()[0][1]["error"]
    assert play.seat("a").strikes == 1


def test_without_version_the_second_of_two_is_out_of_turn() -> None:
    """As in the original."""
    play = Play()
    play.turn("a", n=1)
    play.turn("a", n=1)
    assert told(play) == [("a", False, "invalid-turn")]
    assert play.seat("a").strikes == 1


def test_a_turn_repeated_out_of_turn_takes_nothing_from_anybodys_clock() -> None:
    """Nor does a stale one."""
    play = Play()
    play.turn("a", n=1, version=0)
    play.turn("a", 2.0, n=1, version=0)
    play.turn("a", 2.0, n=7, version=0)
    assert play.seat("b").remaining_s == 3.0


def test_a_turn_that_names_another_match_is_stale() -> None:
    """On a connection that is kept it was under way when that match ended, and must not be played in this one."""
    play = Play()
    before = play.match
    for _ in range(5):
        play.turn("a", n=1, version=0, match="f" * 24)
        assert told(play) == [("a", False, "stale")]
    assert "f" * 24 in play.messages()[0][1]["error"]
    assert play.messages()[0][1]["turn"]["time"] == int(play.now_s * 1000)
    assert play.match is before
    play.turn("a", n=1, version=0, match=play.match.id)
    assert told(play) == [("a", True, None), ("b", True, None)]


@pytest.mark.parametrize("turn", [{"match": "mine"}, {"match": 7, "version": 0}, {"match": None}], ids=repr)
def test_a_key_named_match_is_the_bots_own_without_a_version(turn: dict[str, Any]) -> None:
    """As all keys are that a game does not know."""
    play = Play()
    play.turn("a", n=1, **turn)
    assert told(play) == [("a", True, None), ("b", True, None)]
    assert play.messages()[0][1]["turn"]["match"] == turn["match"]


@pytest.mark.parametrize("version", [None, 0], ids=["says no version", "says its version"])
def test_a_turn_that_came_at_an_older_version_is_for_that_one(version: int | None) -> None:
    """Somebody has moved the match on before it could be answered: it is no answer to what is asked now."""
    turn = {"n": 1} if version is None else {"n": 1, "version": version}
    play = Play()
    play.turn("a", **turn)
    play.turn("b", n=2)
    before = play.match
    play.event(Turned("a", turn, 0.1, at=0))
    assert told(play) == [("a", True, None)]
    play.event(Turned("a", {**turn, "n": 7}, 0.1, at=0))
    assert told(play) == [("a", False, "stale")]
    assert play.match is before
