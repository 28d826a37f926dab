"""The order of finish: as the game says, else who lost comes last."""

from __future__ import annotations

from typing import Any

import pytest
from matches import START_S, Play, a_simultaneous_game
from msgspec.structs import replace

from battlebot.referee.events import Failed, TimedOut
from battlebot.referee.finishing import rank_numbers, stated_scores
from battlebot.referee.match import Fault, Match, Reason, Verdict

PLAYERS = ("a", "b", "c", "d")


def ended(state: dict[str, Any], victor: str | None = None, reason: Reason = Reason.COMPLETE, **evidence: Any) -> Match:
    """A match of four that is over, with this in its final state."""
    match = Play(a_simultaneous_game(), PLAYERS).match
    return replace(match, state={**match.state, **state}, verdict=Verdict(victor, reason, Fault.BOT, evidence))


ENDS = [
    ("in ranks", ended({"places": [["b"], ["a", "d"], ["c"]]}), {"a": 2, "b": 1, "c": 4, "d": 2}),
    ("who is missing comes last", ended({"places": [["b"]]}, "b"), {"a": 2, "b": 1, "c": 2, "d": 2}),
    ("all level", ended({"places": [["d", "c", "b", "a"]]}), dict.fromkeys(PLAYERS, 1)),
    ("no places, a victor", ended({}, "c"), {"a": 2, "b": 2, "c": 1, "d": 2}),
    ("no places, a draw", ended({}), dict.fromkeys(PLAYERS, 1)),
    ("places that name a stranger", ended({"places": [["x"]]}, "c"), {"a": 2, "b": 2, "c": 1, "d": 2}),
    ("places that name one twice", ended({"places": [["a", "a"]]}), dict.fromkeys(PLAYERS, 1)),
    ("places that are no list", ended({"places": 3}), dict.fromkeys(PLAYERS, 1)),
    ("places that are none", ended({"places": [{"a": 1}, []]}), dict.fromkeys(PLAYERS, 1)),
    ("a time-out", ended({}, reason=Reason.TIMEOUT, bot="b"), {"a": 1, "b": 4, "c": 1, "d": 1}),
    ("two gone", ended({}, reason=Reason.DISCONNECT, absent=["b", "c"]), {"a": 1, "b": 3, "c": 3, "d": 1}),
    (
        "a time-out before the game's end",
        ended({"places": [["b"]]}, "a", Reason.TIMEOUT),
        {"a": 1, "b": 2, "c": 2, "d": 2},
    ),
]


@pytest.mark.parametrize(("match", "places"), [end[1:] for end in ENDS], ids=[end[0] for end in ENDS])
def test_places(match: Match, places: dict[str, int]) -> None:
    """Each row: how it ended, the places."""
    assert rank_numbers(match) == places


def test_of_three_the_one_that_is_out_of_time_is_last() -> None:
    """Through the referee; a server's fault leaves all level."""
    play = Play(a_simultaneous_game(), PLAYERS)
    play.event(TimedOut("c", 0, 3.5), 3.5)
    assert rank_numbers(play.match) == {"a": 1, "b": 1, "c": 4, "d": 1}
    play = Play(a_simultaneous_game(), PLAYERS)
    play.event(Failed("the disk is full"), START_S)
    assert set(rank_numbers(play.match).values()) == {1}


SCORES: list[tuple[dict[str, Any], dict[str, int] | None]] = [
    ({"scores": [{"name": "b", "score": 3}, {"name": "a", "score": 0}]}, {"a": 0, "b": 3}),
    ({}, None),
    ({"scores": {"a": 1}}, None),
    ({"scores": 7}, None),
    ({"scores": [{"name": "a", "score": 1.5}]}, None),
    ({"scores": [{"name": "a", "score": True}]}, None),
    ({"scores": [{"name": ["a"], "score": 1}]}, None),
    ({"scores": [7]}, None),
    ({"scores": [{"name": "a", "score": -(10**12)}]}, {"a": -(10**12)}),
    ({"scores": [{"name": "a", "score": -(10**12) - 1}]}, None),
]


@pytest.mark.parametrize(("state", "scores"), SCORES)
def test_scores(state: dict[str, Any], scores: dict[str, int] | None) -> None:
    """Integers of players, or none."""
    assert stated_scores(state, PLAYERS) == scores
