"""A bot that chooses for longer than it was told that it may."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from scripted_server import Line, final, update

from battlebot.client import Result

Play = Callable[..., list[Result]]


def late(state: Any) -> dict[str, Any]:
    """Chooses for longer than the 20 ms that a script allows."""
    time.sleep(0.05)
    return {"n": 1}


def test_a_late_turn_is_sent_if_it_names_what_it_answers(
    play: Play, bot: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The server may allow more time than it tells; if it does not, it sees that the turn is not of the next match."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0, remaining_ms=20))
        turn = {"n": 1, "version": 0, "match": "m1"}
        assert line.hear() == turn
        line.say(final(1, turn={**turn, "player": "Me"}))

    bot.choose = late
    assert play(script, matches=1) == [("m1", "Me", "complete")]
    assert "too long" in caplog.text


def test_a_late_turn_for_the_match_before_is_not_taken_for_one_of_the_next(play: Play, bot: Any) -> None:
    """The server tells so in the next match, which goes on by the bot's own turn there."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0, remaining_ms=20))
        old = line.hear()
        line.say(final(0, "You"), update(0, match="m2"))
        assert line.hear() == {"n": 1, "version": 0, "match": "m2"}
        stale = update(0, match="m2", turn={**old, "player": "Me", "valid": False})
        line.say({**stale, "code": "stale", "error": "This turn is for match m1."})
        line.hears_nothing()
        line.say(final(1, match="m2"))
        assert line.bot_closes() == 1000

    bot.choose = late
    assert play(script, idle_timeout_s=1.0) == [("m1", "You", "complete"), ("m2", "Me", "complete")]


def test_a_late_turn_that_names_nothing_is_not_sent(play: Play, bot: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The match may be lost by then; the turn could be taken for one of the next match."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0, remaining_ms=20))
        line.hears_nothing()
        line.say(final(0, "You"))

    bot.choose = late
    assert play(script, matches=1, protocol=1) == [("m1", "You", "complete")]
    assert "too long" in caplog.text
