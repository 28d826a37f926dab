"""Battle-cubed's messages: what is read of them, what is wrong with them, and what a state becomes."""

from __future__ import annotations

from typing import Any

import pytest

from battlebot.errors import BadMessage, Unavailable
from battlebot.wire.cubed import ended, failed, read_new_game, read_setup, read_watched, refusal, told

SETUP = {"maxNumOfTicks": 50, "edgeLength": 8}
BOT = {"name": "teebot", "url": "https://bots.example.org/teebot"}


def test_a_game_is_read_with_what_was_given() -> None:
    """Numbers in quotes and 8.0 are numbers, as for the original; other keys are left; null is not given."""
    setup = {**SETUP, "edgeLength": "8", "speed": 5.0, "numOfTasksPerTick": None, "theme": 1}
    wanted = read_new_game(
        {"setup": {**setup, "playerStartPositions": []}, "players": [{**BOT, "color": "red"}], "x": 1}
    )
    assert wanted.setup == {"maxNumOfTicks": 50, "edgeLength": 8, "speed": 5, "playerStartPositions": []}
    assert wanted.players == (("teebot", "https://bots.example.org/teebot"),)


WRONG: list[tuple[str, Any, list[tuple[list[Any], str]]]] = [
    ("null", None, [(["setup"], "any.required"), (["players"], "any.required")]),
    ("a text", "x", [([], "object.base")]),
    ("both missing", {}, [(["setup"], "any.required"), (["players"], "any.required")]),
    ("null setup", {"setup": None, "players": [BOT]}, [(["setup"], "any.required")]),
    ("a list as setup", {"setup": [], "players": [BOT]}, [(["setup"], "object.base")]),
    ("numbers missing", {"setup": {}, "players": [BOT]}, [(["setup", key], "any.required") for key in SETUP]),
    ("true", {"setup": {**SETUP, "speed": True}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("half", {"setup": {**SETUP, "speed": 0.5}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("digits", {"setup": {**SETUP, "speed": "9" * 10}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("infinite", {"setup": {**SETUP, "speed": 1e300}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("an object as players", {"setup": SETUP, "players": {}}, [(["players"], "array.base")]),
    ("nobody", {"setup": SETUP, "players": []}, [(["players"], "array.length")]),
    ("65", {"setup": SETUP, "players": [BOT] * 65}, [(["players"], "array.length")]),
    (
        "bad players",
        {"setup": SETUP, "players": [{"name": 1, "url": "http://x"}, {"name": "a"}, "x"]},
        [
            (["players", 0, "name"], "string.base"),
            (["players", 1, "url"], "string.base"),
            (["players", 2, "name"], "string.base"),
            (["players", 2, "url"], "string.base"),
        ],
    ),
    (
        "another kind of address",
        {"setup": SETUP, "players": [{**BOT, "url": "nats://bots.teebot"}]},
        [(["players", 0, "url"], "string.uri")],
    ),
    (
        "a name that nobody can see",
        {"setup": SETUP, "players": [{**BOT, "name": "\u200b"}]},
        [(["players", 0, "name"], "string.base")],
    ),
]


@pytest.mark.parametrize(("payload", "problems"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_all_that_is_wrong_is_told_with_its_place(payload: Any, problems: list[tuple[list[Any], str]]) -> None:
    """Each row: the payload, where and what is wrong."""
    with pytest.raises(BadMessage) as raised:
        read_new_game(payload)
    name, body = refusal(raised.value)
    assert (name, body["error"], body["code"]) == ("ERROR", "INVALID_GAME_CONFIGURATION", "bad-message")
    assert [(row["path"], row["type"]) for row in body["details"]] == problems
    assert all(row["message"] for row in body["details"])


def test_an_error_without_problems_is_told_as_a_sentence() -> None:
    """And under the name that it is given."""
    body = refusal(Unavailable("Redis does not answer now."), "UNAVAILABLE")[1]
    assert body == {"error": "UNAVAILABLE", "details": "Redis does not answer now.", "code": "unavailable"}


SETUPS: list[tuple[Any, dict[str, int] | None]] = [
    ({"edgeLength": 9}, {"edgeLength": 9}),
    ({**SETUP, "speed": 3}, {"edgeLength": 8, "speed": 3}),
    ({"maxNumOfTicks": 9}, None),
    ({}, None),
    (None, None),
    ([], None),
    ({"speed": "soon"}, None),
]


@pytest.mark.parametrize(("payload", "setup"), SETUPS)
def test_a_setup_changes_what_may_change(payload: Any, setup: dict[str, int] | None) -> None:
    """Size, speed and number of tasks; something of it must be there."""
    if setup is not None:
        assert read_setup(payload) == setup
        return
    with pytest.raises(BadMessage):
        read_setup(payload)


def test_a_watched_game_is_named() -> None:
    """By itself or in an object."""
    assert read_watched({"id": "x"}) == read_watched("x") == "x"
    for payload in (None, {}, {"id": 1}, [], 3):
        with pytest.raises(BadMessage):
            read_watched(payload)


def test_the_events_of_a_state_name_the_match() -> None:
    """In the place where the seed has it; the state stays as it was."""
    tick = ["NEXT_TICK", {"gameInfo": {"currentTick": 1}, "players": [], "items": []}]
    state = {"events": [["PLAYER_LOST", {"name": "a", "cause": "x"}], tick]}
    assert told(state, "m") == [
        ("PLAYER_LOST", {"name": "a", "cause": "x"}),
        ("NEXT_TICK", {"gameInfo": {"id": "m", "currentTick": 1}, "players": [], "items": []}),
    ]
    assert tick[1] == {"gameInfo": {"currentTick": 1}, "players": [], "items": []}
    assert told({}, "m") == []


def test_the_end_has_both_names_of_a_score() -> None:
    """A winner only where there is one; urls only of those that the viewer named; what is known after a failure."""
    scores = [{"name": "a", "score": 3}, {"name": "b", "score": 5}]
    a, b = ({"name": name, "url": url, "score": n, "highScore": n} for name, url, n in (("a", "u", 3), ("b", "v", 5)))
    won = ended({"victor": "b", "scores": scores}, "m", {"a": "u", "b": "v"})
    assert won == ("GAME_ENDED", {"id": "m", "result": "WINNER_FOUND", "winner": b, "scores": [a, b]})
    tie = ended({"victor": None, "scores": scores}, "m", {})[1]
    assert (tie["result"], "winner" in tie, "url" in tie["scores"][0]) == ("TIE", False, False)
    assert ended({"victor": None}, "m", {})[1]["scores"] == []
    known = {"lost": [{"name": "a", "score": 3, "cause": "x"}], "positions": [{"name": "b", "x": 0}], "currentTick": 8}
    cut_short = ended({"victor": None, **known}, "m", {})[1]
    assert cut_short["result"] == "TIE"
    assert [(row["name"], row["score"], row["highScore"]) for row in cut_short["scores"]] == [("a", 3, 3), ("b", 8, 8)]
    assert failed("error")[1]["error"] == "GAME_FAILED"
