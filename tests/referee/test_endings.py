"""Ends that nobody played for: too long a match, a match that stands still, the server's; and what comes after one."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from matches import NOUGHTS, NUMBERWANG, START_S, Play, with_rules
from msgspec.structs import replace

from battlebot.arena.live.calls import decode_match, encode_match
from battlebot.referee.events import (
    Event,
    Failed,
    GaveUp,
    Joined,
    Left,
    Orphaned,
    Outage,
    Overdue,
    Reconfigured,
    Stranded,
    TimedOut,
    Turned,
    Voided,
)
from battlebot.referee.match import Match
from battlebot.referee.step import ANSWERS, MAX_NUDGES, NUDGE_AFTER_S


def test_a_match_without_end_is_a_draw_after_so_many_turns() -> None:
    """The last turn counts, and is in everybody's last update."""
    play = Play(max_turns=4)
    for number in range(4):
        assert play.match.verdict is None
        play.turn("ab"[number % 2], n=0)
    assert play.verdict() == (None, "length", "none")
    assert [message["turn"]["n"] for _, message in play.messages()] == [0, 0]
    assert len(play.recorded) == 4


def test_a_win_with_the_last_turn_is_a_win() -> None:
    """The game's own end comes first."""
    play = Play(max_turns=2)
    play.turn("a", n=0)
    play.turn("b", n=-10)
    assert play.verdict() == ("b", "complete", "none")


def test_a_match_that_stands_still_is_looked_after_and_then_given_up() -> None:
    """A clock that nobody watches is the server's fault; each look is due a clock and a while later."""
    play = Play()
    for nudges in range(1, MAX_NUDGES + 1):
        assert play.match.due_s == play.now_s + 3.0 + NUDGE_AFTER_S
        play.event(Overdue(), 3.0 + NUDGE_AFTER_S)
        assert (play.match.nudges, play.last.updates) == (nudges, ())
    play.event(Overdue(), 3.0 + NUDGE_AFTER_S)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"nudges": MAX_NUDGES}


def test_a_valid_turn_forgives_all_looks() -> None:
    """The match goes on."""
    play = Play()
    for _ in range(MAX_NUDGES):
        play.event(Overdue(), 3.0 + NUDGE_AFTER_S)
    play.turn("a", n=1)
    assert play.match.nudges == 0
    play.event(Overdue(), 3.0 + NUDGE_AFTER_S)
    assert play.match.verdict is None


def test_a_look_before_its_time_changes_nothing() -> None:
    """Somebody else has looked already."""
    play = Play()
    before = play.match
    play.event(Overdue(), 7.9)
    assert play.match is before


def test_an_invalid_turn_puts_the_next_look_off_by_the_rest_of_the_clock_only() -> None:
    """A match's deadline is no further away than its clocks are."""
    play = Play()
    play.turn("a", 2.0, n="x")
    assert play.match.due_s == START_S + 2.0 + 1.0 + NUDGE_AFTER_S


def test_the_server_may_give_a_match_up() -> None:
    """A draw that counts for nobody, with the sentence as evidence."""
    play = Play()
    play.event(Failed("the live match was lost"))
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"error": "the live match was lost"}


def test_a_game_that_failed_elsewhere_ends_its_match() -> None:
    """The error is that of a game, though the referee has not called it."""
    play = Play()
    error = KeyError("board")
    assert play.event(Failed("the page failed", error)).failure is error
    assert play.verdict() == (None, "error", "server")


def test_a_reason_of_the_games_own_is_told() -> None:
    """How it was decided is the game's to say (as in the original); the verdict is that it ended by its rules."""

    def reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
        return {**state, "complete": True, "victor": "b", "reason": "resigned"}

    play = Play(with_rules(NUMBERWANG, reducer=reducer))
    play.turn("a", n=0)
    assert play.verdict() == ("b", "complete", "none")
    assert play.messages()[0][1]["state"]["reason"] == "resigned"


def test_the_organiser_may_take_a_match_back() -> None:
    """It counts for nobody, and is nobody's fault."""
    play = Play()
    play.event(Voided("bot a was withdrawn"))
    assert play.verdict() == (None, "void", "none")
    assert play.match.verdict is not None
    assert play.match.verdict.void
    assert play.match.verdict.evidence == {"sentence": "bot a was withdrawn"}


ALL_EVENTS: list[Event] = [
    Turned("a", {"n": 1}, 0.1),
    Turned("b", {"n": 10}, 0.1),
    Turned("b", None, 9.0),
    TimedOut("b", 1, 9.0),
    GaveUp("b", 1, "timeout", "no answer"),
    Reconfigured({"size": 3}),
    Joined("b", "b/2"),
    Joined("c", "c/1"),
    Left("a", "a/1", True),
    Orphaned("a", "a/1"),
    Stranded("a"),
    Outage(START_S, START_S + 60.0),
    Overdue(),
    Failed("late"),
    Voided("late"),
]


def test_every_kind_of_event_has_an_answer() -> None:
    """And is in the list above."""
    assert {type(event) for event in ALL_EVENTS} == set(ANSWERS) == set(Event.__args__)


@pytest.mark.parametrize("event", ALL_EVENTS, ids=repr)
@pytest.mark.parametrize("end", [Turned("a", {"n": 10}, 0.1), TimedOut("a", 0, 3.0), Failed("x")], ids=repr)
def test_after_the_verdict_nothing_changes(end: Event, event: Event) -> None:
    """Who asks, or comes back, is told once more how it ended; nobody else is told anything."""
    play = Play()
    play.event(end)
    verdict, before = play.verdict(), play.match
    play.event(event, 100.0)
    assert play.match is before
    assert play.verdict() == verdict
    asks = [event.bot] if isinstance(event, Turned | Joined) and event.bot != "c" else []
    assert [bot for bot, _ in play.messages()] == asks
    for _, message in play.messages():
        assert message["state"]["complete"] is True
        assert "turn" not in message


def test_the_end_is_told_to_empty_seats_too() -> None:
    """Whoever holds a connection of theirs by then can pass it on."""
    play = Play()
    play.event(Left("b", "b/1", True))
    play.turn("a", n=10)
    assert [bot for bot, _ in play.messages()] == ["a", "b"]


def everything_at_once() -> list[Match]:
    """Matches in which every field has been something else than its default."""
    play = Play(NOUGHTS, turn_timeout_s=0.75, max_strikes=2, node_grace_s=3.5, max_turns=9)
    found = [play.match]
    play.turn("a", 0.1, mark="X", space=[0, 0], version=0, note="ü\0🤖")
    play.turn("b", 0.2, mark="?")
    play.event(Orphaned("a", "a/1"))
    play.event(Left("b", "b/1", False, 0.3))
    found.append(replace(play.match, contest="Cup", options={"size": [3]}, nudges=2))
    play.event(Overdue(), 0.5)
    found.append(play.match)
    return found


@pytest.mark.parametrize("number", range(3))
def test_a_match_comes_back_from_its_document(number: int) -> None:
    """As JSON, as Redis holds it; equal in every field and type."""
    match = everything_at_once()[number]
    again = decode_match(encode_match(match))
    assert again == match
    assert repr(again) == repr(match)


def test_a_document_of_a_version_without_the_clocks_start_is_read() -> None:
    """Seats leave out what is None: documents stay short, and older ones stay readable."""
    play = Play()
    document = orjson.loads(encode_match(play.match))
    assert "answered" not in document["seats"][1]
    del document["seats"][0]["asked_s"], document["seats"][0]["since_s"]
    play.match = decode_match(orjson.dumps(document))
    play.event(Joined("a", "a/2"), 1.0)
    assert play.seat("a").remaining_s == 3.0
    play.turn("a", 0.5, n=1)
    assert (play.recorded[0]["thinkingMs"], play.recorded[0]["serverMs"]) == (500.0, 0.0)
